import { describe, expect, it } from 'vitest';
import { exportRequest } from '../../../plugins/telemetry/otlp-fields.ts';
import { toAttributes, exports, spanKind, statusError } from '../../../plugins/telemetry/otlp.ts';
import { readProtobuf, toProtobuf } from '../../../plugins/telemetry/protobuf.ts';

const scope = { name: 'daypass', version: '1' };
const bare = { attributes: [] };
const traceId = '0af7651916cd43dd8448eb211c80319c';
const times = { startTimeUnixNano: '1', timeUnixNano: '2' };
const labels = toAttributes({ le: 'a' });
const cumulative = { aggregationTemporality: 2 };

// The expected bytes are those of opentelemetry-proto 1.45.1 (Python) for the same JSON.
describe('the binary form of OTLP is that of its own implementation', () => {
  it.each([
    [
      'for spans with attributes of every type',
      exports.traces.request({ attributes: toAttributes({ 'service.name': 'x'.repeat(130) }) }, scope, [
        {
          traceId,
          spanId: 'b7ad6b7169203331',
          parentSpanId: '00f067aa0ba902b7',
          name: 'POST /v1',
          kind: spanKind.server,
          startTimeUnixNano: '1795998909787000000',
          endTimeUnixNano: '1795998911558812500',
          attributes: toAttributes({
            text: 'é',
            no: false,
            zero: 0,
            minus: -2,
            large: Number.MAX_SAFE_INTEGER,
            part: 0.5,
            list: [1, { a: '' }],
          }),
          status: { message: 'm', code: statusError },
        },
      ]),
      '0af9020a99010a96010a0c736572766963652e6e616d651285010a820178787878787878787878787878787878787878787878787878' +
        '787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878' +
        '78787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787812da01' +
        '0a0c0a076461797061737312013112c9010a100af7651916cd43dd8448eb211c80319c1208b7ad6b7169203331220800f067aa0ba902' +
        'b72a08504f5354202f7631300239c0ccd72a7eabec1841548373947eabec184a0c0a047465787412040a02c3a94a080a026e6f120210' +
        '004a0a0a047a65726f120218004a140a056d696e7573120b18feffffffffffffffff014a120a056c61726765120918ffffffffffffff' +
        '0f4a110a0470617274120921000000000000e03f4a1b0a046c69737412132a110a0218010a0b32090a070a016112020a007a0512016d' +
        '1802',
    ],
    [
      'for log records',
      exports.records.request(bare, scope, [
        {
          timeUnixNano: '1795998911559000000',
          severityNumber: 9,
          severityText: 'INFO',
          body: { stringValue: 'b' },
          attributes: [],
          traceId,
          observedTimeUnixNano: '1795998912829000000',
          eventName: 'daypass.request',
        },
      ]),
      '0a560a0012520a0c0a0764617970617373120131124209c05f76947eabec1810091a04494e464f2a030a01624a100af7651916cd43dd' +
        '8448eb211c80319c59400929e07eabec18620f646179706173732e72657175657374',
    ],
    [
      'for gauges, sums and histograms',
      exports.metrics.request(bare, scope, [
        {
          name: 'g',
          description: 'G.',
          unit: 'By',
          gauge: { dataPoints: [{ ...times, asDouble: -1.5, attributes: labels }] },
        },
        {
          name: 's',
          description: 'S.',
          unit: 's',
          sum: { dataPoints: [{ ...times, asDouble: 3, attributes: [] }], ...cumulative, isMonotonic: true },
        },
        {
          name: 'h',
          description: 'H.',
          unit: 's',
          histogram: {
            dataPoints: [
              {
                ...times,
                count: '6',
                sum: 7.5,
                bucketCounts: ['2', '300', '1'],
                explicitBounds: [0.5, 1],
                attributes: labels,
              },
            ],
            ...cumulative,
          },
        },
      ]),
      '0ae6010a0012e1010a0c0a076461797061737312013112350a01671202472e1a0242792a280a26110100000000000000190200000000' +
        '00000021000000000000f8bf3a090a026c6512030a0161122d0a01731202532e1a01733a210a1b110100000000000000190200000000' +
        '00000021000000000000084010021801126b0a01681202482e1a01734a5f0a5b11010000000000000019020000000000000021060000' +
        '0000000000290000000000001e40321802000000000000002c0100000000000001000000000000003a10000000000000e03f00000000' +
        '0000f03f4a090a026c6512030a01611002',
    ],
  ])('%s', (_, request, expected) => {
    expect(toProtobuf(exportRequest, request).toString('hex')).toBe(expected);
  });

  it('for messages of any length, whose lengths take one to four bytes', () => {
    for (const length of [0, 1, 125, 126, 127, 128, 129, 16_383, 16_384, 70_000, 3_000_000]) {
      const text = 'a'.repeat(length);
      const request = exports.traces.request({ attributes: toAttributes({ text }) }, scope, []);
      let bytes = toProtobuf(exportRequest, request);
      // resourceSpans, resource, attributes, value, stringValue
      for (const field of [1, 1, 1, 2, 1]) bytes = readProtobuf(bytes).get(field) as Buffer;
      expect(bytes.toString() === text).toBe(true);
    }
  });
});

it('a field that OTLP does not have is a mistake, not a gap', () => {
  expect(() => toProtobuf(exportRequest, { resourceSpans: [{ other: 1 }] })).toThrow('other');
});

it('of a message that breaks off, what is before the break is read', () => {
  expect([...readProtobuf(Buffer.from('08960109000000000000000012', 'hex'))]).toEqual([
    [1, 150],
    [2, Buffer.alloc(0)],
  ]);
});
