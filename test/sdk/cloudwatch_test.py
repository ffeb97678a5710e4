"""Metrics of a table through boto3, with the endpoint in AWS_ENDPOINT_URL_DYNAMODB."""

import os
import unittest
from datetime import datetime, timedelta, timezone

import boto3
from botocore.exceptions import ClientError

ENDPOINT = os.environ["AWS_ENDPOINT_URL_DYNAMODB"]
OF_ORDERS = [{"Name": "TableName", "Value": "orders"}]


class Metrics(unittest.TestCase):
    """All tests read what was done with one table before them."""

    @classmethod
    def setUpClass(cls):
        cls.start = datetime.now(timezone.utc).replace(second=0, microsecond=0)
        table = boto3.resource("dynamodb", endpoint_url=ENDPOINT).create_table(
            TableName="orders",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            ProvisionedThroughput={"ReadCapacityUnits": 7, "WriteCapacityUnits": 5},
        )
        for size in (10, 1500, 2500):
            table.put_item(Item={"pk": str(size), "text": "x" * size})
        table.scan()
        cls.metrics = boto3.client("cloudwatch", endpoint_url=ENDPOINT)
        cls.addClassCleanup(table.meta.client.close)
        cls.addClassCleanup(cls.metrics.close)

    def span(self):
        return {"StartTime": self.start, "EndTime": self.start + timedelta(hours=1)}

    def datapoints(self, name, period=3600, dimensions=None, **wanted):
        return self.metrics.get_metric_statistics(
            Namespace="AWS/DynamoDB",
            MetricName=name,
            Dimensions=OF_ORDERS if dimensions is None else dimensions,
            Period=period,
            **wanted,
            **self.span(),
        )["Datapoints"]

    def test_statistics(self):
        all_of_them = ["SampleCount", "Average", "Sum", "Minimum", "Maximum"]
        self.assertEqual(
            self.datapoints("ConsumedWriteCapacityUnits", Statistics=all_of_them),
            [{
                "Timestamp": self.start, "Unit": "Count",
                "SampleCount": 3, "Average": 2, "Sum": 6, "Minimum": 1, "Maximum": 3,
            }],
        )

    def test_provisioned(self):
        (point,) = self.datapoints("ProvisionedReadCapacityUnits", Statistics=["Average"])
        self.assertEqual(point["Average"], 7)

    def test_percentiles(self):
        (point,) = self.datapoints(
            "SuccessfulRequestLatency",
            dimensions=OF_ORDERS + [{"Name": "Operation", "Value": "PutItem"}],
            ExtendedStatistics=["p10", "p99.9"],
        )
        self.assertLess(0, point["ExtendedStatistics"]["p10"])
        self.assertLessEqual(point["ExtendedStatistics"]["p10"], point["ExtendedStatistics"]["p99.9"])

    def test_metric_that_is_not_there(self):
        self.assertEqual(self.datapoints("Nonsense", Statistics=["Sum"]), [])

    def test_metric_data(self):
        def query(id, name, operation):
            metric = {
                "Namespace": "AWS/DynamoDB", "MetricName": name,
                "Dimensions": OF_ORDERS + [{"Name": "Operation", "Value": operation}],
            }
            return {"Id": id, "MetricStat": {"Metric": metric, "Period": 3600, "Stat": "Sum"}}

        pages = self.metrics.get_paginator("get_metric_data").paginate(
            MetricDataQueries=[
                query("scanned", "ReturnedItemCount", "Scan"),
                {**query("written", "SuccessfulRequestLatency", "PutItem"), "Label": "milliseconds"},
                query("nothing", "ReturnedItemCount", "Query"),
            ],
            MaxDatapoints=1,
            **self.span(),
        )
        values, labels = {}, {}
        for page in pages:
            self.assertEqual(page["Messages"], [])
            for result in page["MetricDataResults"]:
                values.setdefault(result["Id"], []).extend(result["Values"])
                labels[result["Id"]] = result["Label"]
        self.assertEqual((values["scanned"], values["nothing"]), ([3], []))
        self.assertLess(0, values["written"][0])
        self.assertEqual(labels["written"], "milliseconds")

    def test_insight_rule_report(self):
        client = boto3.client("dynamodb", endpoint_url=ENDPOINT)
        self.addCleanup(client.close)
        client.create_table(
            TableName="ranked", BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        )
        client.update_contributor_insights(TableName="ranked", ContributorInsightsAction="ENABLE")
        for key in "aab":
            client.put_item(TableName="ranked", Item={"pk": {"S": key}})
        rules = client.describe_contributor_insights(TableName="ranked")["ContributorInsightsRuleList"]
        report = self.metrics.get_insight_rule_report(
            RuleName=rules[0], Period=3600, MaxContributorCount=1, Metrics=["UniqueContributors"], **self.span()
        )
        self.assertEqual(report["KeyLabels"], ["pk"])
        (top,) = report["Contributors"]
        self.assertEqual((top["Keys"], top["ApproximateAggregateValue"]), (["a"], 2))
        self.assertEqual(report["MetricDatapoints"], [{"Timestamp": self.start, "UniqueContributors": 2}])

    def test_list_metrics(self):
        pages = self.metrics.get_paginator("list_metrics").paginate(
            Namespace="AWS/DynamoDB", MetricName="SuccessfulRequestLatency", Dimensions=OF_ORDERS
        )
        operations = [
            d["Value"] for page in pages for m in page["Metrics"] for d in m["Dimensions"] if d["Name"] == "Operation"
        ]
        self.assertEqual(operations, ["PutItem", "Scan"])

    def test_errors(self):
        for code, period, wanted in [
            ("InvalidParameterValue", 61, {"Statistics": ["Sum"]}),
            ("InvalidParameterCombination", 60, {"Statistics": ["Sum"], "ExtendedStatistics": ["p99"]}),
            ("InvalidParameterCombination", 1, {"Statistics": ["Sum"]}),
        ]:
            with self.subTest(code=code, period=period), self.assertRaises(ClientError) as raised:
                self.datapoints("UserErrors", period=period, **wanted)
            self.assertEqual(raised.exception.response["Error"]["Code"], code)
            self.assertEqual(raised.exception.response["Error"]["Type"], "Sender")


if __name__ == "__main__":
    unittest.main()
