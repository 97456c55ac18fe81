import type { DayState } from '#core/business/model-health/days.ts';
import { codePieces } from '#core/web/pages/code-pieces.ts';
import { axisBar, dayBars, latencyBar, planTicks, sparkPath, ticks } from '#core/web/pages/geometry.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';

const day = 86_400_000;
const left = 4 * day + 25_965_000;

/** Every component with values as pages have them; among them a name as long as a name gets. */
export function gallery() {
  const format = getFormatter('en', 'Asia/Jakarta');
  const wave = Array.from({ length: 30 }, (_, index) => 10 + 8 * Math.sin(index / 4));
  const kinds = ['ok', 'ok', 'warn', 'bad'] as const;
  return {
    pass: {
      label: '7-day pass · time left',
      status: { kind: 'ok', text: 'Active' },
      remaining: format.remaining(left),
      left,
      ticks: ticks(7, 0, 7 * day, 7 * day - left),
      starts: { label: 'Started', ...format.dayTime(new Date(0)) },
      ends: { label: 'Ends', ...format.dayTime(new Date(7 * day)) },
    },
    tiles: [
      {
        label: 'Rate limit, this minute',
        value: '42',
        unit: 'of 60 left',
        meter: { max: 60, value: 42, text: 'Resets in 23 s' },
      },
      { label: 'Requests, 24 h', value: '1,284', note: '12% more than yesterday', spark: sparkPath(wave, 200, 32) },
      {
        label: 'Errors, 24 h',
        value: '1.4%',
        note: '18 of 1,284',
        spark: { ...sparkPath([0, 0, 9, 1], 200, 32), isBad: true },
      },
      {
        label: 'First token, median',
        value: '0.64',
        unit: 's',
        note: '95% under 1.92 s',
        spark: sparkPath(wave, 200, 32),
      },
    ],
    rows: kinds.map((kind, index) => ({
      time: '14:32:07',
      model: index === 3 ? `dp/${'long-model-name-'.repeat(4)}` : 'dp/claude-sonnet-5-5',
      route: 'claude/claude-sonnet-5-5',
      attempts: index === 1,
      status: { kind, text: ['200', '200', '429 rate limit', '502 all routes'][index] },
      input: '8,412',
      total: '6.84 s',
      bar: latencyBar(710, 6840 / (index + 1), 6840, kind === 'bad'),
    })),
    attempts: [
      {
        kind: 'bad',
        name: '1 · openai/gpt-6-sol',
        span: format.span(0, 412),
        text: '503 overloaded, before the first token. Next route tried.',
        bar: { run: axisBar(0, 412, 4280), isFailed: true },
      },
      {
        kind: 'ok',
        name: '2 · other/gpt-6-sol',
        span: format.span(412, 4280),
        text: '200, first token at 1.09 s. 1,284 in, 402 out.',
        bar: { wait: axisBar(412, 1090, 4280), run: axisBar(1090, 4280, 4280) },
      },
    ],
    bars: dayBars(
      Array.from({ length: 90 }, (_, index): DayState =>
        index < 20 ? 'none' : index === 40 ? 'bad' : index === 70 ? 'warn' : 'ok',
      ),
    ),
    code: {
      id: 'sample',
      label: 'Clients',
      pieces: codePieces(
        '# Python\nclient = OpenAI(\n    base_url="https://daypass.example/v1",\n    api_key="dp-…",\n)',
      ),
      tabs: ['OpenAI', 'Anthropic', 'Gemini', 'One command'].map((label, index) => ({
        id: label,
        label,
        path: `#${index}`,
        isCurrent: index === 0,
      })),
    },
    plans: [1, 3, 7, 30].map((days) => ({
      days,
      unit: days === 1 ? 'day' : 'days',
      label: 'for weekly work',
      ticks: planTicks(days),
      price: days === 30 ? 'Rp 19.500.000' : 'Rp 95.000',
      perDay: 'Rp 13.571 per day',
      path: '#',
      buy: `Buy ${days} days`,
      isRecommended: days === 7,
    })),
    icons: [
      'failover',
      'copy',
      'check',
      'home',
      'list',
      'models',
      'plug',
      'account',
      'people',
      'key',
      'clock',
      'search',
      'print',
      'external',
      'arrow',
      'chevron',
      'trash',
      'language',
      'sun',
      'ticket',
      'receipt',
      'pulse',
      'routes',
      'chart',
      'book',
      'leave',
      'back',
      'upload',
      'play',
      'menu',
      'close',
    ],
  };
}
