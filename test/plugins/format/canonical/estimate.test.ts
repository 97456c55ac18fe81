import { describe, expect, it } from 'vitest';
import { estimatePromptTokens } from '../../../../plugins/format/canonical/estimate.ts';

const chat = { messages: [{ role: 'user', content: 'How are you?' }] };

describe('the tokens of a prompt', () => {
  it.each([
    { stream_options: { include_usage: true } },
    { temperature: 1, top_p: 1, n: 1, seed: 5 },
    { user: 'somebody', metadata: { a: 'b' }, prompt_cache_key: 'k', service_tier: 'auto', store: false },
    { reasoning_effort: 'low', max_completion_tokens: 5, stop: ['x'] },
  ])('do not depend on settings: %j', (settings) => {
    expect(estimatePromptTokens({ ...chat, ...settings })).toBe(estimatePromptTokens(chat));
  });

  it('the tokens of a nested Gemini request are counted', () => {
    const contents = [{ role: 'user', parts: [{ text: 'How are you?' }] }];
    const packed = { generateContentRequest: { model: 'models/x', contents } };
    expect(estimatePromptTokens(packed)).toBe(estimatePromptTokens({ contents }));
  });
});
