"""Fixtures for pytest. A test module that uses one of them gets its own empty database.

    MONOTABLE_TABLES = [{"TableName": "Orders", ...}]    # inputs of CreateTable
    MONOTABLE_DESIGN = "shop.design.yaml"                # or a design file, relative to the module

    def test_order(dynamodb):
        dynamodb.put_item(TableName="Orders", Item={"id": {"S": "1"}})
"""

from __future__ import annotations

from typing import Any, Iterator

import pytest

import monotable


@pytest.fixture(scope="module")
def monotable_server(request: pytest.FixtureRequest) -> Iterator[monotable.Server]:
    """An in-memory database with the tables of the module's MONOTABLE_TABLES and MONOTABLE_DESIGN."""
    with monotable.start(memory=True) as server:
        monotable.create_tables(server.endpoint, getattr(request.module, "MONOTABLE_TABLES", ()))
        design = getattr(request.module, "MONOTABLE_DESIGN", None)
        if design is not None:
            monotable.provision(server.endpoint, str(request.path.parent / design))
        yield server


@pytest.fixture(scope="module")
def dynamodb(monotable_server: monotable.Server) -> Any:
    """A boto3 client for the module's database."""
    import boto3

    return boto3.client("dynamodb", **monotable_server.client_config)


@pytest.fixture(scope="module")
def dynamodb_resource(monotable_server: monotable.Server) -> Any:
    """A boto3 resource for the module's database."""
    import boto3

    return boto3.resource("dynamodb", **monotable_server.client_config)
