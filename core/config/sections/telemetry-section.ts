import { defineSection, type SectionValue } from '../section.ts';

export const telemetrySignals = ['traces', 'metrics', 'records'] as const;
export type TelemetrySignal = (typeof telemetrySignals)[number];

/** `name=value,name=value`, the form of OTEL_EXPORTER_OTLP_HEADERS and OTEL_RESOURCE_ATTRIBUTES; values are percent-encoded. */
const pairs = '^\\s*([^=,\\s]+=[^,]*(,\\s*[^=,\\s]+=[^,]*)*)?\\s*$';

/** The section `telemetry`: what goes to an OpenTelemetry collector. */
export const telemetrySection = defineSection({
  name: 'telemetry',
  fixed: true,
  schema: {
    type: 'object',
    description:
      'Traces, metrics and request records for an OpenTelemetry collector, over OTLP/HTTP. Off without an endpoint.',
    default: {},
    properties: {
      endpoint: {
        type: 'string',
        pattern: '^(https?://[^\\s/?#]+[^\\s?#]*|)$',
        default: '',
        description:
          'URL of the collector, such as http://localhost:4318; /v1/traces, /v1/metrics and /v1/logs are appended. Off when empty.',
      },
      headers: {
        type: 'string',
        pattern: pairs,
        default: '',
        writeOnly: true,
        description: 'Headers of each request to it: name=value,name=value, percent-encoded.',
      },
      service_name: { type: 'string', default: '', description: '`service.name`; default: the name of the service.' },
      resource: {
        type: 'string',
        pattern: pairs,
        default: '',
        description: 'Further resource attributes: name=value,name=value, percent-encoded.',
      },
      signals: {
        type: 'array',
        items: { type: 'string', enum: telemetrySignals },
        uniqueItems: true,
        default: [...telemetrySignals],
        description: 'What is sent.',
      },
      sample: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        default: 1,
        description: 'Share of the requests that are traced. Records and metrics have all.',
      },
      stages: { type: 'boolean', default: false, description: 'Adds a span for each stage of a request.' },
      metrics_interval: {
        type: 'integer',
        minimum: 1,
        maximum: 3600,
        default: 60,
        description: 'Seconds between two reports of all metrics.',
      },
      timeout: {
        type: 'number',
        minimum: 1,
        maximum: 60,
        default: 10,
        description: 'Seconds for a request to the collector.',
      },
      max_waiting_bytes: {
        type: 'integer',
        minimum: 1_048_576,
        default: 268_435_456,
        description:
          'Maximum bytes of records on disk that wait for the collector. Over the limit, further ones are not sent; the database has them.',
      },
    },
    additionalProperties: false,
  },
});

export type TelemetrySettings = SectionValue<typeof telemetrySection>;

/** Whether a signal is sent. */
export function isSent({ endpoint, signals }: TelemetrySettings, signal: TelemetrySignal): boolean {
  return endpoint !== '' && signals.includes(signal);
}
