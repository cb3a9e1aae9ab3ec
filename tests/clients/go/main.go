// Plays the calls with the Go SDK and prints each verdict as a line of JSON.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

const group = "kafka-consumer-processor-asg"

var ctx = context.Background()

// The endpoint comes from the environment, as for every user.
func actor(name string) aws.Config {
	keys := credentials.NewStaticCredentialsProvider(os.Getenv(name+"_KEY_ID"), os.Getenv(name+"_SECRET"), "")
	loaded, err := config.LoadDefaultConfig(ctx, config.WithRegion("us-east-1"),
		config.WithCredentialsProvider(keys), config.WithRetryMaxAttempts(1))
	if err != nil {
		panic(err)
	}
	return loaded
}

func objects() *s3.Client {
	return s3.NewFromConfig(actor("APP"), func(options *s3.Options) { options.UsePathStyle = true })
}

func play(name string, call func() (any, error)) {
	value, err := call()
	verdict := "ok"
	if err != nil {
		verdict, value = "error", err.Error()
		for _, word := range []string{"holds", "refused"} {
			if strings.Contains(err.Error(), "Sentinel "+word) {
				verdict = word
				break
			}
		}
	}
	line, _ := json.Marshal(map[string]any{"call": name, "verdict": verdict, "value": value})
	fmt.Println(string(line))
}

func capacity(name string, desired int32) func() (any, error) {
	return func() (any, error) {
		_, err := autoscaling.NewFromConfig(actor(name)).SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{
			AutoScalingGroupName: aws.String(group), DesiredCapacity: aws.Int32(desired)})
		return nil, err
	}
}

func messages() (any, error) {
	client := sqs.NewFromConfig(actor("APP"))
	found, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("kafka-shard-0")})
	if err != nil {
		return nil, err
	}
	sent := &sqs.SendMessageInput{QueueUrl: found.QueueUrl, MessageBody: aws.String("from " + os.Getenv("CLIENT"))}
	if _, err = client.SendMessage(ctx, sent); err != nil {
		return nil, err
	}
	received, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: found.QueueUrl})
	if err != nil {
		return nil, err
	}
	message := received.Messages[0]
	done := &sqs.DeleteMessageInput{QueueUrl: found.QueueUrl, ReceiptHandle: message.ReceiptHandle}
	if _, err = client.DeleteMessage(ctx, done); err != nil {
		return nil, err
	}
	return map[string]string{"url": *found.QueueUrl, "body": *message.Body}, nil
}

func upload() (any, error) {
	body, name := bytes.Repeat([]byte("x"), 50<<20), os.Getenv("CLIENT")
	_, err := objects().PutObject(ctx, &s3.PutObjectInput{
		Bucket: aws.String("uploads"), Key: aws.String(name), Body: bytes.NewReader(body)})
	if err != nil {
		return nil, err
	}
	made, err := objects().CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: aws.String("uploads"), Key: aws.String(name + "-parts")})
	if err != nil {
		return nil, err
	}
	_, err = objects().UploadPart(ctx, &s3.UploadPartInput{Bucket: made.Bucket, Key: made.Key, UploadId: made.UploadId,
		PartNumber: aws.Int32(1), Body: bytes.NewReader(body)})
	return nil, err
}

func pages() (any, error) {
	found := 0
	pages := s3.NewListObjectsV2Paginator(objects(), &s3.ListObjectsV2Input{
		Bucket: aws.String("pages"), MaxKeys: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		found += len(page.Contents)
	}
	return found, nil
}

func main() {
	agent := autoscaling.NewFromConfig(actor("AGENT"))
	play("read", func() (any, error) {
		found, err := agent.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{})
		if err != nil {
			return nil, err
		}
		return len(found.AutoScalingGroups), nil
	})
	play("allowed", capacity("AGENT", 6))
	play("refused", capacity("AGENT", 64))
	play("held", func() (any, error) {
		_, err := agent.PutWarmPool(ctx, &autoscaling.PutWarmPoolInput{
			AutoScalingGroupName: aws.String(group)})
		return nil, err
	})
	play("upload", upload)
	play("messages", messages)
	play("item", func() (any, error) {
		_, err := dynamodb.NewFromConfig(actor("APP")).PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String("kafka-offsets"),
			Item: map[string]types.AttributeValue{
				"partition": &types.AttributeValueMemberS{Value: os.Getenv("CLIENT")}}})
		return nil, err
	})
	play("pages", pages)
	play("waiter", func() (any, error) {
		waiter := s3.NewBucketExistsWaiter(objects())
		return nil, waiter.Wait(ctx, &s3.HeadBucketInput{Bucket: aws.String("uploads")}, time.Minute)
	})
	play("session", capacity("SESSION", 7))
}
