import { describe, expect, it } from 'vitest';
import { plansSection } from '#core/business/accounts/plans.ts';
import { paymentsSection } from '#core/business/payments/section.ts';
import { listSectionNotices, type Section, type SectionValues } from '#core/config/section.ts';
import { listen, memory } from '#core/config/sections/core-sections.ts';
import { models } from '#core/config/sections/models-section.ts';
import { upstreams } from '#core/config/sections/upstreams-section.ts';
import { responsesSection } from '../../../plugins/format/state/responses-store/register.ts';
import { rateLimitStage } from '../../../plugins/rate-limit/stage.ts';
import { upstreamStage } from '../../../plugins/upstream/stage.ts';

/** Sections with these values. */
const valuesOf = (...entries: readonly [Section, unknown][]): SectionValues => ({
  get: (section) => new Map(entries).get(section) as never,
});
const noticesOf = (section: Section, value: unknown, ...others: readonly [Section, unknown][]) =>
  listSectionNotices([section], valuesOf([section, value], ...others));
const limits = { limit: 60, period: 60, burst: 20, concurrent: 8 };
const ofCalls = (change: object, plans: readonly object[] = []) =>
  rateLimitStage.notices?.({ ...limits, ...change } as never, valuesOf([plansSection, plans]));
const timeouts = { idle_timeout: 120, progress_timeout: 300, first_byte_timeout: 60 };
const ofUpstream = (change: object, model: object = { routes: ['a/b'] }) =>
  upstreamStage.notices?.(
    { ...timeouts, queue: { per_account: 50, total: 2_000 }, ...change } as never,
    valuesOf([models, { m: model }]),
  );
const pools = (capacity: object) => noticesOf(upstreams, { vllm: { capacity } });
const MiB = 1024 ** 2;

describe('limits of which one contradicts another are noted', () => {
  it.each([
    ['a burst over the limit', () => ofCalls({ limit: 5 }), /^rate-limit: .* burst allows 20 .* limit is 5 in 60 s$/],
    [
      'a plan with less than the burst of others',
      () => ofCalls({}, [{ days: 7, limits: { limit: 10 } }]),
      /^the limits of the plan of 7 days: .* burst allows 20 /,
    ],
    [
      'more requests at the same time than may begin',
      () => ofCalls({ limit: 10, period: 86_400, burst: 10, concurrent: 50 }),
      /concurrent is 50, .* only 10 requests begin in an hour$/,
    ],
    ['more waiting of one than of all', () => ofUpstream({ queue: { per_account: 9, total: 5 } }), /per_account is 9/],
    ['a timeout that another one precedes', () => ofUpstream({ progress_timeout: 60 }), /progress_timeout is 60 s/],
    [
      'a hedge after the first route is given up',
      () => ofUpstream({}, { hedge_after: 60, routes: ['a/b', 'c/d'] }),
      /^models\.m\.hedge_after is 60 s, .* within 60 s$/,
    ],
    [
      'the same by the limit of the route',
      () => ofUpstream({}, { hedge_after: 20, routes: [{ to: 'a/b', first_byte_timeout: 10 }] }),
      /within 10 s$/,
    ],
    [
      'more in flight than may begin',
      () => pools({ concurrent: 100, requests: 20, per: 'day' }),
      /^upstreams\.vllm\.capacity: concurrent is 100, but only 20 requests may start in a day$/,
    ],
    [
      'a window that no route has',
      () => noticesOf(models, { m: { max_input_tokens: 200_000, routes: [{ to: 'a/b', max_input_tokens: 8_192 }] } }),
      /^models\.m\.max_input_tokens is 200000, .* more than 8192$/,
    ],
    [
      'an output that no route has',
      () => noticesOf(models, { m: { max_tokens: 64_000, quirks: { max_output_tokens: 8_192 }, routes: ['a/b'] } }),
      /^models\.m\.max_tokens is 64000/,
    ],
    [
      'more open orders than charges',
      () => noticesOf(paymentsSection, { max_open_orders: 30, max_charges_per_hour: 20 }),
      /max_open_orders is 30/,
    ],
    [
      'a stored response larger than the store',
      () => noticesOf(responsesSection, { max_bytes: 4 * MiB, max_account_bytes: MiB }),
      /max_bytes \(4194304\) exceeds/,
    ],
    [
      'a body larger than the memory',
      () => noticesOf(listen, { max_body_bytes: 1024 * MiB }, [memory, { max_bytes: 512 * MiB }]),
      /max_body_bytes is 1073741824, but the memory has room only for bodies of \d+ bytes$/,
    ],
  ])('%s', (_title, read, notice) => {
    expect([read()].flat()).toEqual([expect.stringMatching(notice)]);
  });

  it('but not those that go together', () => {
    expect([
      ofCalls({}, [{ days: 7, limits: { limit: 120, burst: 60, concurrent: 100 } }]),
      // Ten a second, with a burst that two seconds fill again.
      ofCalls({ limit: 10, period: 1 }),
      ofCalls({ limit: 1_000, period: 86_400 }),
      ofUpstream({}, { hedge_after: 5, routes: ['a/b', 'c/d'] }),
      pools({ concurrent: 100, requests: 20, per: 'second' }),
      pools({ concurrent: 100 }),
      noticesOf(models, { m: { max_input_tokens: 8_192, routes: [{ to: 'a/b', max_input_tokens: 4_096 }, 'c/d'] } }),
      noticesOf(paymentsSection, { max_open_orders: 5, max_charges_per_hour: 20 }),
      noticesOf(responsesSection, { max_bytes: MiB, max_account_bytes: MiB }),
      noticesOf(listen, { max_body_bytes: 32 * MiB }, [memory, { max_bytes: 512 * MiB }]),
    ]).toEqual(Array.from({ length: 10 }, () => []));
  });
});
