"""Signed requests, and sessions, through boto3, with the endpoint in AWS_ENDPOINT_URL_DYNAMODB and the access key of user ana."""

import os
import unittest
import urllib.request

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT = os.environ["AWS_ENDPOINT_URL_DYNAMODB"]


class Signed(unittest.TestCase):
    def client(self, service="dynamodb", **options):
        made = boto3.client(service, endpoint_url=ENDPOINT, **options)
        self.addCleanup(made.close)
        return made

    def refused(self, code, call, **arguments):
        with self.assertRaises(ClientError) as caught:
            call(**arguments)
        self.assertEqual(caught.exception.response["Error"]["Code"], code)

    def test_items_of_any_text(self):
        """What is signed is what is sent, whatever is in it."""
        client = self.client()
        client.create_table(
            TableName="texts",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        )
        for text in ["a", "ü +%/?&=", "\n\t", "x" * 100_000]:
            client.put_item(TableName="texts", Item={"pk": {"S": text[:100]}, "text": {"S": text}})
            item = client.get_item(TableName="texts", Key={"pk": {"S": text[:100]}})["Item"]
            self.assertEqual(item["text"]["S"], text)

    def test_wrong_secret(self):
        client = self.client(aws_secret_access_key="wrong", aws_access_key_id=os.environ["AWS_ACCESS_KEY_ID"])
        self.refused("InvalidSignatureException", client.list_tables)

    def test_unsigned(self):
        from botocore import UNSIGNED

        client = self.client(config=Config(signature_version=UNSIGNED))
        self.refused("MissingAuthenticationTokenException", client.list_tables)

    def test_session(self):
        made = self.client("sts").get_session_token(DurationSeconds=900)["Credentials"]
        session = {
            "aws_access_key_id": made["AccessKeyId"],
            "aws_secret_access_key": made["SecretAccessKey"],
            "aws_session_token": made["SessionToken"],
        }
        self.client(**session).list_tables()
        who = self.client("sts", **session).get_caller_identity()
        self.assertEqual(who["Arn"], "arn:aws:iam::000000000000:user/ana")
        session["aws_session_token"] = session["aws_session_token"][:-8] + "AAAAAAA="
        self.refused("UnrecognizedClientException", self.client(**session).list_tables)

    def test_presigned(self):
        """A presigned GetCallerIdentity proves who somebody is to somebody else, without the key."""
        url = self.client("sts").generate_presigned_url("get_caller_identity", ExpiresIn=60, HttpMethod="GET")
        with urllib.request.urlopen(url) as response:
            self.assertIn("arn:aws:iam::000000000000:user/ana", response.read().decode())


if __name__ == "__main__":
    unittest.main()
