import { describe, expect, it } from 'vitest';
import { parsePairs } from '../../../plugins/telemetry/collector.ts';
import { toOtlpMetrics } from '../../../plugins/telemetry/metrics-report.ts';
import { toAttributes, toNanoseconds } from '../../../plugins/telemetry/otlp.ts';
import { toLogRecords } from '../../../plugins/telemetry/record-logs.ts';

const id = 'req_019abcdef0127abc8ef0123456789abc';

it('attributes have the types of their values, and unknown ones are left out', () => {
  expect(
    toAttributes({ text: 'a', yes: true, whole: 3, part: 0.5, list: [{ a: 1 }], none: null, missing: undefined }),
  ).toEqual([
    { key: 'text', value: { stringValue: 'a' } },
    { key: 'yes', value: { boolValue: true } },
    { key: 'whole', value: { intValue: '3' } },
    { key: 'part', value: { doubleValue: 0.5 } },
    {
      key: 'list',
      value: { arrayValue: { values: [{ kvlistValue: { values: [{ key: 'a', value: { intValue: '1' } }] } }] } },
    },
  ]);
});

it('times are nanoseconds, without the rounding of numbers', () => {
  expect(toNanoseconds(1_795_728_664_347)).toBe('1795728664347000000');
  expect(toNanoseconds(1_795_728_664_347.25)).toBe('1795728664347250000');
});

it('headers and resource attributes are pairs, percent-encoded', () => {
  expect(parsePairs('authorization=Bearer%20a=b, x = 1%,')).toEqual([
    ['authorization', 'Bearer a=b'],
    ['x', '1%'],
  ]);
  expect(parsePairs('')).toEqual([]);
});

describe('metrics', () => {
  it('keep names and labels; the buckets of a histogram no longer include the smaller ones', () => {
    const labels = { endpoint: 'chat' };
    const metricName = 'daypass_x_seconds_bucket';
    const [histogram, counter, ...others] = toOtlpMetrics(
      [
        {
          name: 'daypass_x_seconds',
          help: 'X.',
          type: 'histogram',
          values: [
            { metricName, value: 2, labels: { ...labels, le: 0.5 } },
            { metricName, value: 5, labels: { ...labels, le: 1 } },
            { metricName, value: 6, labels: { ...labels, le: '+Inf' } },
            { metricName: 'daypass_x_seconds_sum', value: 7.5, labels },
            { metricName: 'daypass_x_seconds_count', value: 6, labels },
          ],
        },
        { name: 'daypass_y_total', help: 'Y.', type: 'counter', values: [{ value: 3, labels: {} }] },
        { name: 'daypass_z', help: 'Z.', type: 'gauge', values: [] },
      ],
      '1',
      '2',
    );
    const times = { startTimeUnixNano: '1', timeUnixNano: '2' };
    expect(histogram).toMatchObject({
      name: 'daypass_x_seconds',
      unit: 's',
      histogram: {
        aggregationTemporality: 2,
        dataPoints: [
          {
            ...times,
            attributes: toAttributes(labels),
            count: '6',
            sum: 7.5,
            explicitBounds: [0.5, 1],
            bucketCounts: ['2', '3', '1'],
          },
        ],
      },
    });
    expect(counter).toMatchObject({
      sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [{ ...times, asDouble: 3 }] },
    });
    expect(others).toEqual([]);
  });
});

describe('a line of the journal', () => {
  it('is a log record with its columns, at the end of the request, in the trace of its id', () => {
    const line = {
      at: 'end',
      id,
      started_at: 1_000,
      method: 'GET',
      path: '/v1/models',
      outcome: 'failed',
      duration_ms: 5,
      status: 500,
    };
    const [record, ...others] = toLogRecords(JSON.stringify(line), 2_000);
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      timeUnixNano: '1005000000',
      observedTimeUnixNano: '2000000000',
      severityText: 'ERROR',
      eventName: 'daypass.request',
      traceId: id.slice(4),
      attributes: expect.arrayContaining(
        toAttributes({
          'daypass.request.id': id,
          'daypass.status': 500,
          'daypass.duration_ms': 5,
          'daypass.outcome': 'failed',
        }),
      ) as unknown,
    });
  });

  it('with a prompt or a response has its text as the body', () => {
    const body = Buffer.from('Selamat pagi ☀').toString('base64');
    const line = { at: 'content', id, started_at: 1_000, part: 'request', is_cut: false, body };
    expect(toLogRecords(JSON.stringify(line), 2_000)).toMatchObject([
      { eventName: 'daypass.request.content', body: { stringValue: 'Selamat pagi ☀' } },
    ]);
  });

  it('that is neither, or broken, is none', () => {
    const begin = JSON.stringify({ at: 'begin', id, started_at: 1_000 });
    expect([begin, '{"at":"end"', '{"at":"end"}', ''].flatMap((line) => toLogRecords(line, 0))).toEqual([]);
  });
});
