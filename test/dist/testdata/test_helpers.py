"""What docs/test-helpers.md says of the Python package."""

import socket
import subprocess
import sys
import urllib.parse

import pytest

import monotable

MONOTABLE_DESIGN = "shop.design.yaml"
MONOTABLE_TABLES = [
    {
        "TableName": "Orders",
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    }
]


def test_tables_of_the_list_and_the_design(dynamodb, dynamodb_resource):
    assert dynamodb.list_tables()["TableNames"] == ["Orders", "Shop"]
    dynamodb.put_item(TableName="Orders", Item={"id": {"S": "1"}})
    assert dynamodb_resource.Table("Orders").get_item(Key={"id": "1"})["Item"] == {"id": "1"}


def test_refused_table(monotable_server):
    with pytest.raises(RuntimeError, match="CreateTable x: 400"):
        monotable.create_tables(monotable_server.endpoint, [{**MONOTABLE_TABLES[0], "TableName": "x"}])


def test_start_wants_one_place():
    with pytest.raises(TypeError):
        monotable.start()
    with pytest.raises(RuntimeError, match="before it started listening"):
        monotable.start(memory=True, args=["--no-such-flag"])


def test_server_ends_with_its_parent():
    with subprocess.Popen([sys.executable, "orphan.py"], stdout=subprocess.PIPE, text=True) as parent:
        endpoint = urllib.parse.urlparse(parent.stdout.readline().strip())
        parent.kill()
    while True:
        try:
            socket.create_connection((endpoint.hostname, endpoint.port)).close()
        except OSError:
            break
