// Writes the CloudFormation template of a CDK application with tables of every feature, as cdk synth does, to the file in argv[2].
import { App, DefaultStackSynthesizer, RemovalPolicy, Stack } from "aws-cdk-lib";
import * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import * as iam from "aws-cdk-lib/aws-iam";
import * as kinesis from "aws-cdk-lib/aws-kinesis";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { writeFileSync } from "node:fs";

const app = new App({ analyticsReporting: false });
const stack = new Stack(app, "tables", {
  env: { account: "000000000000", region: "us-east-1" },
  synthesizer: new DefaultStackSynthesizer({ generateBootstrapVersionRule: false }),
});
const { S, N, B } = { S: dynamodb.AttributeType.STRING, N: dynamodb.AttributeType.NUMBER, B: dynamodb.AttributeType.BINARY };

const policy = () => new iam.PolicyDocument({
  statements: [new iam.PolicyStatement({ principals: [new iam.ArnPrincipal("arn:aws:iam::000000000000:root")], actions: ["dynamodb:GetItem"], resources: ["*"] })],
});
const stream = kinesis.Stream.fromStreamArn(stack, "Kinesis", "arn:aws:kinesis:us-east-1:000000000000:stream/changes");

new dynamodb.Table(stack, "Plain", { tableName: "plain", partitionKey: { name: "id", type: S } });

new dynamodb.Table(stack, "Imported", {
  tableName: "imported",
  partitionKey: { name: "id", type: S },
  billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
  importSource: {
    bucket: Bucket.fromBucketName(stack, "Bucket", "uploads"), keyPrefix: "items/",
    inputFormat: dynamodb.InputFormat.csv({ delimiter: ",", headerList: ["id", "name"] }), compressionType: dynamodb.InputCompressionType.NONE,
  },
});

const full = new dynamodb.Table(stack, "Full", {
  tableName: "full",
  partitionKey: { name: "pk", type: S },
  sortKey: { name: "sk", type: S },
  billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
  maxReadRequestUnits: 100,
  maxWriteRequestUnits: 50,
  warmThroughput: { readUnitsPerSecond: 13000, writeUnitsPerSecond: 5000 },
  stream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
  kinesisStream: stream,
  timeToLiveAttribute: "expires",
  pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true, recoveryPeriodInDays: 7 },
  contributorInsightsSpecification: { enabled: true },
  encryption: dynamodb.TableEncryption.AWS_MANAGED,
  tableClass: dynamodb.TableClass.STANDARD_INFREQUENT_ACCESS,
  deletionProtection: true,
  resourcePolicy: policy(),
  removalPolicy: RemovalPolicy.DESTROY,
});
full.addGlobalSecondaryIndex({ indexName: "by_at", partitionKey: { name: "gk", type: S }, sortKey: { name: "at", type: N }, projectionType: dynamodb.ProjectionType.INCLUDE, nonKeyAttributes: ["note"] });
full.addLocalSecondaryIndex({ indexName: "local", sortKey: { name: "digest", type: B }, projectionType: dynamodb.ProjectionType.KEYS_ONLY });

const provisioned = new dynamodb.Table(stack, "Provisioned", {
  tableName: "provisioned", partitionKey: { name: "id", type: S }, readCapacity: 10, writeCapacity: 3,
});
provisioned.addGlobalSecondaryIndex({ indexName: "by_kind", partitionKey: { name: "kind", type: S }, readCapacity: 2, writeCapacity: 1 });

new dynamodb.TableV2(stack, "Global", {
  tableName: "global",
  partitionKey: { name: "pk", type: S },
  sortKey: { name: "sk", type: S },
  dynamoStream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
  timeToLiveAttribute: "expires",
  pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
  contributorInsightsSpecification: { enabled: true },
  encryption: dynamodb.TableEncryptionV2.awsManagedKey(),
  billing: dynamodb.Billing.onDemand({ maxReadRequestUnits: 100, maxWriteRequestUnits: 50 }),
  warmThroughput: { readUnitsPerSecond: 13000, writeUnitsPerSecond: 5000 },
  globalSecondaryIndexes: [{ indexName: "by_kind", partitionKey: { name: "kind", type: S } }],
  localSecondaryIndexes: [{ indexName: "local", sortKey: { name: "at", type: N } }],
  deletionProtection: true,
  resourcePolicy: policy(),
  kinesisStream: stream,
  tags: [{ key: "team", value: "ops" }],
  replicas: [{
    region: "eu-west-1", contributorInsightsSpecification: { enabled: false }, tableClass: dynamodb.TableClass.STANDARD_INFREQUENT_ACCESS, deletionProtection: false,
    tags: [{ key: "team", value: "europe" }], maxReadRequestUnits: 70,
  }],
});

new dynamodb.TableV2(stack, "Scaled", {
  tableName: "scaled",
  partitionKey: { name: "id", type: S },
  billing: dynamodb.Billing.provisioned({
    readCapacity: dynamodb.Capacity.fixed(10),
    writeCapacity: dynamodb.Capacity.autoscaled({ minCapacity: 5, maxCapacity: 20, targetUtilizationPercent: 60 }),
  }),
  replicas: [{ region: "eu-west-1", readCapacity: dynamodb.Capacity.autoscaled({ minCapacity: 4, maxCapacity: 8 }) }],
});
const { template } = app.synth().getStackByName("tables");
writeFileSync(process.argv[2], `${JSON.stringify(template, null, 2)}\n`);
