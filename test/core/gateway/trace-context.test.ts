import { expect, it } from 'vitest';
import { createAttemptSpanId, createTraceHeaders, deriveTrace } from '#core/gateway/trace-context.ts';

const id = 'req_019abcdef0127abc8ef0123456789abc';
const client = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
const withHeader = (traceparent: string) => deriveTrace({ id, headers: { traceparent } }, 1);

it('a request without a trace begins one whose id is its own', () => {
  expect(deriveTrace({ id, headers: {} }, 1)).toEqual({
    traceId: '019abcdef0127abc8ef0123456789abc',
    spanId: '8ef0123456789abc',
    parentSpanId: undefined,
    isSampled: true,
  });
});

it.each([
  ['of version 00', `00-${client.trace}-${client.span}-00`],
  ['of a later version with more fields', `01-${client.trace}-${client.span}-01-more`],
])('the trace of a client is continued: a header %s', (_, header) => {
  expect(withHeader(header)).toMatchObject({ traceId: client.trace, parentSpanId: client.span });
});

it.each([
  ['zeros as trace', `00-${'0'.repeat(32)}-${client.span}-01`],
  ['zeros as span', `00-${client.trace}-${'0'.repeat(16)}-01`],
  ['version ff', `ff-${client.trace}-${client.span}-01`],
  ['capitals', `00-${client.trace.toUpperCase()}-${client.span}-01`],
  ['more fields in version 00', `00-${client.trace}-${client.span}-01-more`],
  ['anything else', 'a trace'],
])('an invalid header begins a trace of the request: %s', (_, header) => {
  expect(withHeader(header)).toMatchObject({ traceId: id.slice(4), parentSpanId: undefined });
});

it('the operator decides what is sampled, by the trace alone', () => {
  const ids = Array.from(
    { length: 1_000 },
    (_, index) => `req_${'0'.repeat(18)}${(index * 72_057_594_037_927).toString(16).padStart(14, '0')}`,
  );
  const sampled = ids.filter((each) => deriveTrace({ id: each, headers: {} }, 0.1).isSampled);
  expect(sampled.length).toBeGreaterThan(95);
  expect(sampled.length).toBeLessThan(105);
  expect(deriveTrace({ id, headers: { traceparent: `00-${client.trace}-${client.span}-01` } }, 0).isSampled).toBe(
    false,
  );
});

it('an upstream gets the span of its attempt, and the state of the client that sent a trace', () => {
  const headers = { traceparent: `00-${client.trace}-${client.span}-01`, tracestate: 'vendor=1' };
  const span = createAttemptSpanId({ id }, 'one/model', 12.5);
  expect(span).toMatch(/^[\da-f]{16}$/);
  expect(createAttemptSpanId({ id }, 'one/model', 13)).not.toBe(span);
  expect(createTraceHeaders({ id, headers }, 1, span)).toEqual({
    traceparent: `00-${client.trace}-${span}-01`,
    tracestate: 'vendor=1',
  });
  expect(createTraceHeaders({ id, headers: { tracestate: 'vendor=1' } }, 0, span)).toEqual({
    traceparent: `00-${id.slice(4)}-${span}-00`,
  });
});

it('no trace is sampled with a share of 0, not even the one with the largest id', () => {
  const traceparent = `00-${'f'.repeat(32)}-${client.span}-01`;
  expect(deriveTrace({ id, headers: { traceparent } }, 0).isSampled).toBe(false);
});
