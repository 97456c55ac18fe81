import type { MessageField, FieldType, MessageFields } from './protobuf.ts';

/* The OTLP fields that we send, by their names in OTLP's JSON form. Source: the .proto files of OpenTelemetry Protocol 1.9. */

function defineMessage(fields: Readonly<Record<string, readonly [number, FieldType | MessageFields]>>): MessageFields {
  return new Map(Object.entries(fields).map(([name, [number, type]]) => [name, { number, type }]));
}

/** Values may contain values, so the fields are added below, after `keyValue`, which needs this map. */
const valueFields = new Map<string, MessageField>();
const value: MessageFields = valueFields;
const keyValue = defineMessage({ key: [1, 'string'], value: [2, value] });
for (const [name, field] of defineMessage({
  stringValue: [1, 'string'],
  boolValue: [2, 'bool'],
  intValue: [3, 'varint'],
  doubleValue: [4, 'double'],
  arrayValue: [5, defineMessage({ values: [1, value] })],
  kvlistValue: [6, defineMessage({ values: [1, keyValue] })],
}))
  valueFields.set(name, field);

const span = defineMessage({
  traceId: [1, 'hex'],
  spanId: [2, 'hex'],
  parentSpanId: [4, 'hex'],
  name: [5, 'string'],
  kind: [6, 'varint'],
  startTimeUnixNano: [7, 'fixed64'],
  endTimeUnixNano: [8, 'fixed64'],
  attributes: [9, keyValue],
  status: [15, defineMessage({ message: [2, 'string'], code: [3, 'varint'] })],
});

const times = { startTimeUnixNano: [2, 'fixed64'], timeUnixNano: [3, 'fixed64'] } as const;
const numberPoint = defineMessage({ ...times, asDouble: [4, 'double'], attributes: [7, keyValue] });
const histogramPoint = defineMessage({
  ...times,
  count: [4, 'fixed64'],
  sum: [5, 'double'],
  bucketCounts: [6, 'packed fixed64'],
  explicitBounds: [7, 'packed double'],
  attributes: [9, keyValue],
});
const temporality = { aggregationTemporality: [2, 'varint'] } as const;
const metric = defineMessage({
  name: [1, 'string'],
  description: [2, 'string'],
  unit: [3, 'string'],
  gauge: [5, defineMessage({ dataPoints: [1, numberPoint] })],
  sum: [7, defineMessage({ dataPoints: [1, numberPoint], ...temporality, isMonotonic: [3, 'bool'] })],
  histogram: [9, defineMessage({ dataPoints: [1, histogramPoint], ...temporality })],
});

const logRecord = defineMessage({
  timeUnixNano: [1, 'fixed64'],
  severityNumber: [2, 'varint'],
  severityText: [3, 'string'],
  body: [5, value],
  attributes: [6, keyValue],
  traceId: [9, 'hex'],
  observedTimeUnixNano: [11, 'fixed64'],
  eventName: [12, 'string'],
});

const origin = {
  resource: [1, defineMessage({ attributes: [1, keyValue] })],
  scope: [1, defineMessage({ name: [1, 'string'], version: [2, 'string'] })],
} as const;

/** A request's only field has number 1, regardless of the signal. */
function defineRequest(resources: string, scopes: string, items: string, item: MessageFields) {
  const scopedItems = defineMessage({ scope: origin.scope, [items]: [2, item] });
  return { [resources]: [1, defineMessage({ resource: origin.resource, [scopes]: [2, scopedItems] })] } as const;
}

/** One message for all signals, which works because each signal has a field name of its own. */
export const exportRequest = defineMessage({
  ...defineRequest('resourceSpans', 'scopeSpans', 'spans', span),
  ...defineRequest('resourceMetrics', 'scopeMetrics', 'metrics', metric),
  ...defineRequest('resourceLogs', 'scopeLogs', 'logRecords', logRecord),
});
