// A request as code. Each text is a complete program that takes credentials from the environment.
import { about, endpoint, onAWS } from "./api.ts";
import { type AnyRequest, statementOf } from "./statement.ts";
import type { Value } from "./value.ts";

const kebab = (name: string) => name.replace(/([a-z])([A-Z])/g, "$1-$2").toLowerCase();
const snake = (name: string) => kebab(name).replace(/-/g, "_");

/** Prints JSON in another language: how it names members, quotes words, and writes binary. */
interface Language {
  member: (name: string) => string;
  word: (word: boolean | null) => string;
  binary: (base64: string) => string;
}

function literal(v: unknown, l: Language, indent: string): string {
  const deeper = `${indent}  `;
  if (Array.isArray(v)) {
    return v.length === 0 ? "[]" : `[${v.map((x) => literal(x, l, indent)).join(", ")}]`;
  }
  if (typeof v === "object" && v !== null) {
    const entries = Object.entries(v);
    const only = entries.length === 1 ? entries[0] : undefined;
    const shown = ([name, x]: [string, unknown]) => `${l.member(name)}: ${name === "B" && typeof x === "string" ? l.binary(x) : name === "BS" && isTexts(x) ? `[${x.map(l.binary).join(", ")}]` : literal(x, l, deeper)}`;
    if (only && typeof only[1] !== "object") return `{ ${shown(only)} }`; // a value
    return entries.length === 0 ? "{}" : `{\n${entries.map((e) => `${deeper}${shown(e)},\n`).join("")}${indent}}`;
  }
  return typeof v === "boolean" || v === null ? l.word(v) : JSON.stringify(v);
}

function isTexts(v: unknown): v is string[] {
  return Array.isArray(v) && v.every((x) => typeof x === "string");
}

const javascript: Language = {
  member: (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)), word: String, binary: (b) => `Buffer.from(${JSON.stringify(b)}, "base64")`,
};
const python: Language = {
  member: (name) => JSON.stringify(name), word: (w) => (w === null ? "None" : w ? "True" : "False"), binary: (b) => `base64.b64decode(${JSON.stringify(b)})`,
};

function cli({ operation, input }: AnyRequest): string {
  const json = JSON.stringify(input, null, 2).replace(/'/g, "'\\''");
  return `aws dynamodb ${kebab(operation)} --region ${about.region}${onAWS ? "" : ` --endpoint-url ${endpoint}`} --cli-input-json '${json}'`;
}

function inJavaScript({ operation, input }: AnyRequest): string {
  const at = onAWS ? "" : `, endpoint: ${JSON.stringify(endpoint)}`;
  return `import { DynamoDBClient, ${operation}Command } from "@aws-sdk/client-dynamodb";

const client = new DynamoDBClient({ region: ${JSON.stringify(about.region)}${at} });
const response = await client.send(new ${operation}Command(${literal(input, javascript, "")}));
console.log(response);
`;
}

function inPython({ operation, input }: AnyRequest): string {
  const at = onAWS ? "" : `, endpoint_url=${JSON.stringify(endpoint)}`;
  const named = Object.entries(input).map(([name, v]) => `    ${name}=${literal(v, python, "    ")},\n`).join("");
  return `${named.includes("base64.") ? "import base64\n\n" : ""}import boto3

client = boto3.client("dynamodb", region_name=${JSON.stringify(about.region)}${at})
response = client.${snake(operation)}(
${named})
print(response)
`;
}

function goValue(v: Value, indent: string): string {
  const deeper = `${indent}\t`;
  const texts = (list: string[]) => `[]string{${list.map((x) => JSON.stringify(x)).join(", ")}}`;
  const bytes = (b: string) => `[]byte(${JSON.stringify(Array.from(atob(b), (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`).join("")).replaceAll("\\\\x", "\\x")})`;
  const member = (type: string, value: string) => `&types.AttributeValueMember${type}{Value: ${value}}`;
  if ("S" in v) return member("S", JSON.stringify(v.S));
  if ("N" in v) return member("N", JSON.stringify(v.N));
  if ("B" in v) return member("B", bytes(v.B));
  if ("BOOL" in v) return member("BOOL", String(v.BOOL));
  if ("NULL" in v) return member("NULL", "true");
  if ("SS" in v) return member("SS", texts(v.SS));
  if ("NS" in v) return member("NS", texts(v.NS));
  if ("BS" in v) return member("BS", `[][]byte{${v.BS.map(bytes).join(", ")}}`);
  if ("L" in v) return member("L", `[]types.AttributeValue{${v.L.map((x) => goValue(x, indent)).join(", ")}}`);
  return member("M", goItem(v.M, indent === "" ? deeper : indent));
}

function goItem(item: Record<string, Value>, indent: string): string {
  return `map[string]types.AttributeValue{\n${Object.entries(item).map(([name, v]) => `${indent}\t${JSON.stringify(name)}: ${goValue(v, `${indent}\t`)},\n`).join("")}${indent}}`;
}

const values = ["Key", "Item", "ExpressionAttributeValues", "ExclusiveStartKey"];
const enums: Readonly<Record<string, string>> = {
  ReturnConsumedCapacity: "ReturnConsumedCapacity", ReturnValues: "ReturnValue", ReturnValuesOnConditionCheckFailure: "ReturnValuesOnConditionCheckFailure", BillingMode: "BillingMode", KeyType: "KeyType",
  AttributeType: "ScalarAttributeType", ProjectionType: "ProjectionType", StreamViewType: "StreamViewType",
};
/** Members with a structure, or a list of structures. */
const structures: Readonly<Record<string, string>> = {
  KeySchema: "KeySchemaElement", AttributeDefinitions: "AttributeDefinition", GlobalSecondaryIndexes: "GlobalSecondaryIndex", LocalSecondaryIndexes: "LocalSecondaryIndex", Projection: "Projection",
  ProvisionedThroughput: "ProvisionedThroughput", StreamSpecification: "StreamSpecification", Tags: "Tag",
};

function goField(name: string, v: unknown): string {
  if (values.includes(name) && typeof v !== "string") return goItem(v as Record<string, Value>, "\t\t");
  if (name === "Parameters") return `[]types.AttributeValue{${(v as Value[]).map((x) => goValue(x, "\t\t")).join(", ")}}`;
  if (enums[name] !== undefined) return `types.${enums[name]}(${JSON.stringify(v)})`;
  const structure = structures[name];
  if (structure !== undefined) return Array.isArray(v) ? `[]types.${structure}{${v.map(goMembers).join(", ")}}` : `&types.${structure}${goMembers(v)}`;
  if (isTexts(v)) return `[]string{${v.map((x) => JSON.stringify(x)).join(", ")}}`;
  if (typeof v === "string") return `aws.String(${JSON.stringify(v)})`;
  if (typeof v === "boolean") return `aws.Bool(${String(v)})`;
  if (typeof v === "number") return `aws.${name === "Limit" ? "Int32" : "Int64"}(${String(v)})`;
  return `map[string]string{${Object.entries(v as object).map(([k, x]) => `${JSON.stringify(k)}: ${JSON.stringify(x)}`).join(", ")}}`;
}

function goMembers(v: unknown): string {
  return `{${Object.entries(v as object).map(([name, x]) => `${name}: ${goField(name, x)}`).join(", ")}}`;
}

function inGo({ operation, input }: AnyRequest): string {
  const at = onAWS ? "" : `, func(o *dynamodb.Options) {\n\t\to.BaseEndpoint = aws.String(${JSON.stringify(endpoint)})\n\t}`;
  const fields = Object.entries(input).map(([name, v]) => `\t\t${name}: ${goField(name, v)},\n`).join("");
  const imports = [["aws", `${at}${fields}`.includes("aws.")], ["config", true], ["service/dynamodb", true], ["service/dynamodb/types", fields.includes("types.")]] as const;
  return `package main

import (
	"context"
	"fmt"
	"log"

${imports.filter(([, used]) => used).map(([path]) => `\t"github.com/aws/aws-sdk-go-v2/${path}"\n`).join("")})

func main() {
	ctx := context.Background()
	settings, err := config.LoadDefaultConfig(ctx, config.WithRegion(${JSON.stringify(about.region)}))
	if err != nil {
		log.Fatal(err)
	}
	client := dynamodb.NewFromConfig(settings${at})
	response, err := client.${operation}(ctx, &dynamodb.${operation}Input{
${fields}	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\\n", response)
}
`;
}

export function programs(request: AnyRequest): { key: string; label: string; text: string }[] {
  const statement = statementOf(request);
  return [
    { key: "cli", label: "AWS CLI", text: cli(request) }, { key: "javascript", label: "JavaScript", text: inJavaScript(request) },
    { key: "python", label: "Python", text: inPython(request) }, { key: "go", label: "Go", text: inGo(request) },
    ...(statement === undefined ? [] : [{ key: "partiql", label: "PartiQL", text: statement }]),
  ];
}
