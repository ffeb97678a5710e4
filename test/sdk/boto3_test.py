"""An orders table through boto3, with the endpoint in AWS_ENDPOINT_URL_DYNAMODB (which this boto3 is too old to
read itself)."""

import os
import unittest
from decimal import Decimal

import boto3
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary
from botocore.exceptions import ClientError

ENDPOINT = os.environ["AWS_ENDPOINT_URL_DYNAMODB"]


class Orders(unittest.TestCase):
    """Every test has a table of its own, of nine orders by ana and one by bob."""

    @classmethod
    def setUpClass(cls):
        cls.resource = boto3.resource("dynamodb", endpoint_url=ENDPOINT)
        cls.client = cls.resource.meta.client
        cls.addClassCleanup(cls.client.close)

    def setUp(self):
        self.table = self.resource.create_table(
            TableName="orders-" + self.id().rsplit(".", 1)[-1],
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[
                {"AttributeName": "customer", "AttributeType": "S"},
                {"AttributeName": "placed", "AttributeType": "N"},
                {"AttributeName": "status", "AttributeType": "S"},
            ],
            KeySchema=[
                {"AttributeName": "customer", "KeyType": "HASH"},
                {"AttributeName": "placed", "KeyType": "RANGE"},
            ],
            LocalSecondaryIndexes=[
                {
                    "IndexName": "own-by-status",
                    "KeySchema": [
                        {"AttributeName": "customer", "KeyType": "HASH"},
                        {"AttributeName": "status", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "by-status",
                    "KeySchema": [
                        {"AttributeName": "status", "KeyType": "HASH"},
                        {"AttributeName": "placed", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["total"]},
                }
            ],
        )
        self.table.wait_until_exists()
        self.addCleanup(self.table.delete)
        with self.table.batch_writer() as batch:
            for n in range(1, 10):
                status = "open" if n % 3 else "paid"
                batch.put_item({"customer": "ana", "placed": n, "status": status, "total": n * 10, "note": "n"})
            batch.put_item({"customer": "bob", "placed": 5, "status": "open", "total": 7})

    def refused(self, code, message, call, **request):
        with self.assertRaises(ClientError) as caught:
            call(**request)
        error = caught.exception.response["Error"]
        self.assertEqual(error["Code"], code, error)
        self.assertIn(message, error["Message"])
        return caught.exception.response

    def placed(self, **query):
        return [item["placed"] for item in self.table.query(**query)["Items"]]

    def test_table(self):
        self.table.reload()
        self.assertEqual(self.table.table_status, "ACTIVE")
        self.assertEqual(self.table.item_count, 10)
        self.assertEqual(self.table.global_secondary_indexes[0]["ProvisionedThroughput"]["ReadCapacityUnits"], 0)
        self.refused("ResourceNotFoundException", "Requested resource not found",
                     self.client.get_item, TableName="nowhere", Key={"k": "v"})

    def test_every_type(self):
        item = {
            "customer": "eve", "placed": Decimal("-1.5E-100"), "n": Decimal("1234567890.1234567890123456789012345678"),
            "b": Binary(b"\x00\xff"), "yes": True, "none": None, "ss": {"b", "a", ""}, "ns": {Decimal("1"), Decimal("2.5")},
            "bs": {Binary(b"x"), Binary(b"y")}, "l": ["café", Decimal(1), ["", {}]], "m": {"a.b": {"c": None}}, "empty": "",
        }
        self.table.put_item(Item=item)
        key = {"customer": "eve", "placed": Decimal("-1.5E-100")}
        self.assertEqual(self.table.get_item(Key=key, ConsistentRead=True)["Item"], item)
        self.assertNotIn("Item", self.table.get_item(Key={"customer": "eve", "placed": 0}))

    def test_query(self):
        ana = Key("customer").eq("ana")
        self.assertEqual(self.placed(KeyConditionExpression=ana & Key("placed").between(3, 5)), [3, 4, 5])
        self.assertEqual(self.placed(KeyConditionExpression=ana, ScanIndexForward=False, Limit=2), [9, 8])
        self.assertEqual(self.placed(KeyConditionExpression=ana & Key("status").begins_with("p"),
                                     IndexName="own-by-status", ConsistentRead=True), [3, 6, 9])
        out = self.table.query(IndexName="by-status", KeyConditionExpression=Key("status").eq("paid") & Key("placed").gt(3),
                               FilterExpression=Attr("total").gte(90), ReturnConsumedCapacity="INDEXES")
        self.assertEqual(out["Items"], [{"customer": "ana", "placed": 9, "status": "paid", "total": 90}])
        self.assertEqual((out["Count"], out["ScannedCount"]), (1, 2))
        self.assertEqual(out["ConsumedCapacity"]["GlobalSecondaryIndexes"]["by-status"]["CapacityUnits"], 0.5)
        self.refused("ValidationException", "Query condition missed key schema element: customer",
                     self.table.query, KeyConditionExpression=Key("placed").eq(3))

    def test_pages(self):
        pages = self.client.get_paginator("query").paginate(
            TableName=self.table.name, KeyConditionExpression=Key("customer").eq("ana"), PaginationConfig={"PageSize": 4})
        self.assertEqual([[item["placed"] for item in page["Items"]] for page in pages],
                         [[1, 2, 3, 4], [5, 6, 7, 8], [9]])
        scanned = self.client.get_paginator("scan").paginate(
            TableName=self.table.name, FilterExpression=Attr("status").eq("open"), PaginationConfig={"PageSize": 3})
        self.assertEqual(sum(page["Count"] for page in scanned), 7)
        segments = [self.table.scan(Segment=n, TotalSegments=2)["Count"] for n in range(2)]
        self.assertEqual(sum(segments), 10)

    def test_update(self):
        key = {"customer": "ana", "placed": 1}
        out = self.table.update_item(
            Key=key, UpdateExpression="SET #s = :paid, #t = #t + :tip ADD seen :one REMOVE note",
            ConditionExpression=Attr("status").eq("open"), ExpressionAttributeNames={"#s": "status", "#t": "total"},
            ExpressionAttributeValues={":paid": "paid", ":tip": Decimal("0.5"), ":one": {1}}, ReturnValues="ALL_NEW")
        want = {**key, "status": "paid", "total": Decimal("10.5"), "seen": {1}}
        self.assertEqual(out["Attributes"], want)
        answer = self.refused(
            "ConditionalCheckFailedException", "The conditional request failed", self.table.delete_item,
            Key=key, ConditionExpression=Attr("status").ne("paid") | Attr("note").exists())
        self.assertNotIn("Item", answer)
        self.assertEqual(self.table.delete_item(Key=key, ReturnValues="ALL_OLD")["Attributes"], want)

    def test_transaction(self):
        pay = [
            {"Update": {
                "TableName": self.table.name, "Key": {"customer": "ana", "placed": 1},
                "UpdateExpression": "SET #s = :paid", "ConditionExpression": "#s = :open",
                "ExpressionAttributeNames": {"#s": "status"},
                "ExpressionAttributeValues": {":paid": "paid", ":open": "open"},
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }},
            {"Put": {"TableName": self.table.name, "Item": {"customer": "receipts", "placed": 1}}},
            {"ConditionCheck": {
                "TableName": self.table.name, "Key": {"customer": "bob", "placed": 5},
                "ConditionExpression": "attribute_exists(customer)",
            }},
        ]
        for _ in range(2):  # the same token: done once
            self.client.transact_write_items(TransactItems=pay, ClientRequestToken=self.table.table_id)
        answer = self.refused("TransactionCanceledException", "[ConditionalCheckFailed, None, None]",
                              self.client.transact_write_items, TransactItems=pay)
        reason = answer["CancellationReasons"][0]
        self.assertEqual((reason["Code"], reason["Item"]["status"]), ("ConditionalCheckFailed", {"S": "paid"}))
        self.assertEqual(len(answer["CancellationReasons"]), 3)
        keys = [{"customer": "receipts", "placed": 1}, {"customer": "receipts", "placed": 2}]
        read = self.client.transact_get_items(
            TransactItems=[{"Get": {"TableName": self.table.name, "Key": key}} for key in keys])
        self.assertEqual(read["Responses"], [{"Item": keys[0]}, {}])

    def test_statements(self):
        table = self.table.name
        out = self.client.execute_statement(
            Statement=f'SELECT placed, total FROM "{table}" WHERE customer = ? AND placed BETWEEN ? AND ? ORDER BY placed DESC',
            Parameters=["ana", 2, 4], ReturnConsumedCapacity="TOTAL")
        self.assertEqual(out["Items"], [{"placed": n, "total": n * 10} for n in (4, 3, 2)])
        self.assertEqual(out["ConsumedCapacity"]["CapacityUnits"], 0.5)
        seen, token = [], {}
        while token is not None:
            out = self.client.execute_statement(
                Statement=f'SELECT placed FROM "{table}"."by-status" WHERE status = \'open\'', Limit=3, **token)
            seen += [item["placed"] for item in out["Items"]]
            token = {"NextToken": out["NextToken"]} if "NextToken" in out else None
        self.assertEqual(seen, [1, 2, 4, 5, 5, 7, 8])
        insert = dict(Statement=f"INSERT INTO \"{table}\" VALUE {{'customer': ?, 'placed': ?, 'tags': <<'a', 'b'>>, 'lines': [{{'n': ?}}]}}",
                      Parameters=["eve", 1, Decimal("2.5")])
        self.assertEqual(self.client.execute_statement(**insert)["Items"], [])
        self.refused("DuplicateItemException", "Duplicate primary key", self.client.execute_statement, **insert)
        out = self.client.execute_statement(
            Statement=f"UPDATE \"{table}\" SET lines[0].n = lines[0].n + 1 SET tags = set_delete(tags, <<'a'>>) "
                      "WHERE customer = 'eve' AND placed = 1 RETURNING ALL NEW *")
        self.assertEqual(out["Items"], [{"customer": "eve", "placed": 1, "tags": {"b"}, "lines": [{"n": Decimal("3.5")}]}])
        self.refused("ConditionalCheckFailedException", "The conditional request failed", self.client.execute_statement,
                     Statement=f"UPDATE \"{table}\" SET n = 1 WHERE customer = 'nobody' AND placed = 1")
        self.refused("ValidationException", "mandatory equality on all key attributes", self.client.execute_statement,
                     Statement=f"DELETE FROM \"{table}\" WHERE customer = 'eve'")
        batch = self.client.batch_execute_statement(Statements=[
            {"Statement": f"DELETE FROM \"{table}\" WHERE customer = 'eve' AND placed = 1"},
            {"Statement": f"UPDATE \"{table}\" SET n = 1 WHERE customer = 'eve' AND placed = 1"}])["Responses"]
        self.assertEqual(batch[0], {"TableName": table})
        self.assertEqual(batch[1]["Error"]["Code"], "ConditionalCheckFailed")
        answer = self.refused(
            "TransactionCanceledException", "[None, DuplicateItem]", self.client.execute_transaction,
            TransactStatements=[
                {"Statement": f"EXISTS(SELECT * FROM \"{table}\" WHERE customer = 'bob' AND placed = 5 AND note IS MISSING)"},
                {"Statement": f"INSERT INTO \"{table}\" VALUE {{'customer': 'ana', 'placed': 1}}"}])
        self.assertEqual(answer["CancellationReasons"][1]["Code"], "DuplicateItem")
        read = self.client.execute_transaction(TransactStatements=[
            {"Statement": f'SELECT total FROM "{table}" WHERE customer = ? AND placed = ?', "Parameters": ["bob", n]} for n in (5, 6)])
        self.assertEqual(read["Responses"], [{"Item": {"total": 7}}, {}])

    def test_batch_get(self):
        keys = [{"customer": "ana", "placed": n} for n in (1, 2, 99)]
        out = self.resource.batch_get_item(RequestItems={
            self.table.name: {"Keys": keys, "ProjectionExpression": "placed", "ConsistentRead": True}})
        self.assertCountEqual(out["Responses"][self.table.name], [{"placed": 1}, {"placed": 2}])
        self.assertEqual(out["UnprocessedKeys"], {})


if __name__ == "__main__":
    unittest.main()
