// Plays the calls with the JavaScript SDK and prints each verdict as a line of JSON.
import { Readable } from "node:stream";
import { AutoScaling } from "@aws-sdk/client-auto-scaling";
import { DynamoDB } from "@aws-sdk/client-dynamodb";
import { S3, paginateListObjectsV2, waitUntilBucketExists } from "@aws-sdk/client-s3";
import { SQS } from "@aws-sdk/client-sqs";

const env = process.env;
const ASG = "kafka-consumer-processor-asg";

// The endpoint comes from the environment, as for every user.
const options = (actor) => ({
  region: "us-east-1",
  maxAttempts: 1,
  credentials: { accessKeyId: env[`${actor}_KEY_ID`], secretAccessKey: env[`${actor}_SECRET`] },
});
const s3 = () => new S3({ ...options("APP"), forcePathStyle: true });

async function play(name, call) {
  let line;
  try {
    line = { call: name, verdict: "ok", value: (await call()) ?? null };
  } catch (error) {
    const text = `${error.name}: ${error.message}`;
    const word = ["holds", "refused"].find((each) => text.includes(`Sentinel ${each}`));
    line = { call: name, verdict: word ?? "error", value: text };
  }
  console.log(JSON.stringify(line));
}

const capacity = async (actor, desired) => {
  const group = new AutoScaling(options(actor));
  await group.setDesiredCapacity({ AutoScalingGroupName: ASG, DesiredCapacity: desired });
};

async function messages() {
  const sqs = new SQS(options("APP"));
  const { QueueUrl } = await sqs.getQueueUrl({ QueueName: "kafka-shard-0" });
  // This SDK calls the host of the URL that it is given.
  await sqs.sendMessage({ QueueUrl, MessageBody: `from ${env.CLIENT}` });
  const { Messages } = await sqs.receiveMessage({ QueueUrl });
  await sqs.deleteMessage({ QueueUrl, ReceiptHandle: Messages[0].ReceiptHandle });
  return { url: QueueUrl, body: Messages[0].Body };
}

async function upload() {
  const body = Buffer.alloc(10 << 20, "x");
  await s3().putObject({ Bucket: "uploads", Key: env.CLIENT, Body: body });
  // A stream, of which the SDK cannot sign the bytes.
  const pieces = function* () {
    for (let at = 0; at < body.length; at += 65536) yield body.subarray(at, at + 65536);
  };
  const stream = Readable.from(pieces());
  await s3().putObject({ Bucket: "uploads", Key: `${env.CLIENT}-parts`, Body: stream, ContentLength: body.length });
}

async function pages() {
  let found = 0;
  for await (const page of paginateListObjectsV2({ client: s3(), pageSize: 2 }, { Bucket: "pages" })) {
    found += page.Contents.length;
  }
  return found;
}

const group = new AutoScaling(options("AGENT"));
await play("read", async () => (await group.describeAutoScalingGroups({})).AutoScalingGroups.length);
await play("allowed", () => capacity("AGENT", 6));
await play("refused", () => capacity("AGENT", 64));
await play("held", () => group.putWarmPool({ AutoScalingGroupName: ASG }));
await play("upload", upload);
await play("messages", messages);
const item = { partition: { S: env.CLIENT } };
await play("item", async () => void (await new DynamoDB(options("APP")).putItem({ TableName: "kafka-offsets", Item: item })));
await play("pages", pages);
await play("waiter", async () => void (await waitUntilBucketExists({ client: s3(), maxWaitTime: 60 }, { Bucket: "uploads" })));
await play("session", () => capacity("SESSION", 7));
