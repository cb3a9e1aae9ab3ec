"""The example's Lambda function: reads an offset and does nothing with it."""


def handler(event, context):
    return {"rebalanced": bool(event)}
