import { describe, expect, it } from 'vitest';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { formatClientName, describeRequestFacts, requestTexts } from '#core/web/requests/describe-facts.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { recordOf } from './fixture.ts';

const reader = { t: new Translator([requestTexts]).in('en'), format: getFormatter('en', 'Asia/Jakarta') };

function factsOf(settings: Partial<RequestRecord> = {}): Record<string, string> {
  return Object.fromEntries(describeRequestFacts(recordOf(settings), reader).map(({ label, text }) => [label, text]));
}

describe('the facts of a request', () => {
  it('name only what is known', () => {
    expect(factsOf()).toEqual({ Format: 'Responses, streamed', Outcome: 'complete' });
  });

  it('say when tokens were estimated', () => {
    expect(factsOf({ input_tokens: 1284, output_tokens: 402 })).toMatchObject({ Tokens: '1,284 in · 402 out' });
    expect(factsOf({ input_tokens: 1284, usage_estimated: true })).toMatchObject({ Tokens: '1,284 in, estimated' });
  });

  it('say how long the request waited for a free slot', () => {
    expect(factsOf({ queue_ms: 2_134 })).toMatchObject({
      Queue: expect.stringMatching(/^waited 2\.13.s for a free slot$/),
    });
  });

  it('have the tokens of prompt cache and reasoning, unless there were none', () => {
    expect(factsOf({ cache_read_tokens: 1024, cache_write_tokens: 0, reasoning_tokens: 64 })).toMatchObject({
      'Of which': '1,024 from prompt cache · 64 reasoning',
    });
  });

  it('group what translations noted', () => {
    const notes = ['dropped top_k', 'approximated json_schema as instruction', 'dropped logit_bias', '...'];
    expect(factsOf({ notes })).toMatchObject({
      'Dropped for this route': 'top_k, logit_bias',
      'Approximated for this route': 'json_schema as instruction',
      Note: 'And more.',
    });
  });

  it('tell an answer that broke off from a request that failed', () => {
    expect([
      factsOf({ outcome: 'failed', status: 200 })['Outcome'],
      factsOf({ outcome: 'failed', status: 502 })['Outcome'],
    ]).toEqual(['broke off', 'failed']);
  });

  it('say that prompt and reply are kept, where they are', () => {
    const labels = [false, true].map((hasContent) =>
      describeRequestFacts(recordOf(), reader, { hasContent }).map(({ label }) => label),
    );
    expect(labels.map((facts) => facts.includes('Stored by the operator'))).toEqual([false, true]);
  });

  it('name the canary whose configuration served it, to operators alone', () => {
    const seen = [true, false].map((isForOperator) =>
      describeRequestFacts(recordOf({ canary: 3 }), reader, { isForOperator }).find(
        ({ label }) => label === 'Configuration',
      ),
    );
    expect(seen.map((fact) => fact?.text)).toEqual(['canary 3', undefined]);
  });

  it('name the model that an alias stands for', () => {
    expect(factsOf({ model: 'claude-3-haiku', alias_of: 'dp/claude' })).toMatchObject({ 'Alias of': 'dp/claude' });
  });

  it('have the error that the client got', () => {
    expect(factsOf({ error_message: 'Model "dp/x" not found.' })).toMatchObject({ Error: 'Model "dp/x" not found.' });
  });
});

describe('the client', () => {
  it.each([
    ['OpenAI/Python 1.54.0', 'OpenAI Python 1.54.0'],
    ['Anthropic/JS 0.32.1', 'Anthropic JS 0.32.1'],
    ['claude-cli/2.1.0 (external, cli)', 'claude-cli 2.1.0'],
    ['codex_cli_rs/0.46.0 (Mac OS 15.6; arm64)', 'codex_cli_rs 0.46.0'],
    ['Mozilla/5.0 (X11; Linux) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36', 'Chrome 141'],
    ['Mozilla/5.0 (Macintosh) AppleWebKit/605 (KHTML, like Gecko) Version/26.0 Safari/605.1.15', 'Safari 26'],
    ['Mozilla/5.0 (X11; Linux) Chrome/141.0.0.0 Safari/537.36 Edg/141.0', 'Edge 141'],
    ['node', 'node'],
    ['<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['', ''],
  ])('%s is called "%s"', (userAgent, name) => {
    expect(formatClientName(userAgent)).toBe(name);
  });
});
