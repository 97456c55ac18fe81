import { array, boolean, integer, number, object, string } from '#core/platform/schema.ts';
import { defineSection, type SectionValue } from '../section.ts';

export const telemetrySignals = ['traces', 'metrics', 'records'] as const;
export type TelemetrySignal = (typeof telemetrySignals)[number];

// Percent-encoded values, as in OTEL_EXPORTER_OTLP_HEADERS and OTEL_RESOURCE_ATTRIBUTES.
const pairsPattern = '^\\s*([^=,\\s]+=[^,]*(,\\s*[^=,\\s]+=[^,]*)*)?\\s*$';

export const telemetrySection = defineSection({
  name: 'telemetry',
  fixed: true,
  schema: object(
    { default: {} },
    'Traces, metrics and request records for an OpenTelemetry collector, over OTLP/HTTP. Off without an endpoint.',
    {
      endpoint: string(
        { pattern: '^(https?://[^\\s/?#]+[^\\s?#]*|)$', default: '' },
        'URL of the collector, such as http://localhost:4318; /v1/traces, /v1/metrics and /v1/logs are appended. Off when empty.',
      ),
      protocol: string(
        { enum: ['http/protobuf', 'http/json'], default: 'http/protobuf' },
        'Encoding of the requests: binary, which every collector supports, or JSON.',
      ),
      headers: string(
        { pattern: pairsPattern, default: '', writeOnly: true },
        'Headers of each request to the collector: name=value,name=value, percent-encoded.',
      ),
      service_name: string({ default: '' }, '`service.name`; default: the name of the service.'),
      resource: string(
        { pattern: pairsPattern, default: '' },
        'Further resource attributes: name=value,name=value, percent-encoded.',
      ),
      signals: array(
        { items: string({ enum: telemetrySignals }), uniqueItems: true, default: [...telemetrySignals] },
        'Signals to send.',
      ),
      sample: number(
        { minimum: 0, maximum: 1, default: 1 },
        'Share of requests that are traced. Records and metrics include all requests.',
      ),
      stages: boolean({ default: false }, 'Adds a span for each stage of a request.'),
      metrics_interval: integer({ minimum: 1, maximum: 3600, default: 60 }, 'Seconds between reports of all metrics.'),
      timeout: number({ minimum: 1, maximum: 60, default: 10 }, 'Seconds that a request to the collector may take.'),
      max_waiting_bytes: integer(
        { minimum: 1_048_576, default: 268_435_456 },
        'Maximum bytes of records on disk waiting for the collector. Records over the limit are not sent, but they are in the database.',
      ),
    },
  ),
  notices({ endpoint }) {
    const { pathname, port } = URL.parse(endpoint) ?? { pathname: '', port: '' };
    return [
      ...(/\/v1\/(?:traces|metrics|logs)\/*$/.test(pathname)
        ? [
            `telemetry.endpoint ends with the path of a signal, which is appended to it; write ${URL.parse(endpoint)?.origin}`,
          ]
        : []),
      ...(port === '4317'
        ? ['telemetry.endpoint has port 4317, which collectors use for gRPC; OTLP over HTTP uses 4318']
        : []),
    ];
  },
});

export type TelemetrySettings = SectionValue<typeof telemetrySection>;

export function sendsSignal({ endpoint, signals }: TelemetrySettings, signal: TelemetrySignal): boolean {
  return endpoint !== '' && signals.includes(signal);
}
