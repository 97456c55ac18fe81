/*
 * OTLP in its JSON form (OpenTelemetry Protocol 1.9, "JSON Protobuf Encoding"): lowerCamelCase names, hexadecimal ids, 64-bit numbers as
 * decimal texts, enums as numbers.
 */

type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } }
  | { readonly kvlistValue: { readonly values: readonly KeyValue[] } };

interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly status?: { readonly code: number; readonly message?: string };
}

export interface LogRecord {
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano: string;
  readonly severityNumber: number;
  readonly severityText: string;
  readonly eventName: string;
  readonly body: AnyValue;
  readonly attributes: readonly KeyValue[];
  readonly traceId: string;
}

export interface Resource {
  readonly attributes: readonly KeyValue[];
}

export const spanKind = { internal: 1, server: 2, client: 3 } as const;
export const statusError = 2;
export const severities = { info: [9, 'INFO'], warn: [13, 'WARN'], error: [17, 'ERROR'] } as const;

/** Omits null and undefined. */
export function toAttributes(members: Readonly<Record<string, unknown>>): KeyValue[] {
  return Object.entries(members).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [{ key, value: toAnyValue(value) }],
  );
}

export function toAnyValue(value: unknown): AnyValue {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toAnyValue) } };
  if (typeof value === 'object' && value !== null)
    return { kvlistValue: { values: toAttributes(value as Record<string, unknown>) } };
  return { stringValue: String(value) };
}

/** Returns ns as OTLP encodes them; `time` is epoch ms and may have a fraction. */
export function toNanoseconds(time: number): string {
  const wholeMs = Math.floor(time);
  return `${wholeMs}${String(Math.round((time - wholeMs) * 1e6) % 1e6).padStart(6, '0')}`;
}

export const exports = {
  traces: {
    path: 'v1/traces',
    request: (resource: Resource, scope: object, spans: readonly OtlpSpan[]) => ({
      resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }],
    }),
  },
  metrics: {
    path: 'v1/metrics',
    request: (resource: Resource, scope: object, metrics: readonly object[]) => ({
      resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }],
    }),
  },
  records: {
    path: 'v1/logs',
    request: (resource: Resource, scope: object, logRecords: readonly LogRecord[]) => ({
      resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords }] }],
    }),
  },
} as const;
