import { describe, expect, it } from 'vitest';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { openCall } from '../../../../../plugins/format/routes/model-call.ts';
import { adaptRequest } from '../../../../../plugins/format/routes/pass-through/adapt-request.ts';
import { vendors } from '../../../../../plugins/upstream/vendors.ts';
import type { TextFormat } from '../../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../../upstream/fixture.ts';
import { modelOf } from '../../catalog/catalog-fixture.ts';
import { exchange, requestOf } from '../../invariants/fixture.ts';

/** What gateway.yaml makes of a vendor and a model's name. */
function profileOf(vendor: string, model: string): ProfileSettings[] {
  const preset = vendors.find(({ name }) => name === vendor);
  const matching = (preset?.models ?? []).filter(({ match }) =>
    new RegExp(`^${match.replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(model),
  );
  return [preset ?? {}, ...matching];
}

function routeAt(format: TextFormat, profile: readonly ProfileSettings[]) {
  return routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats: [format] }), { profile: mergeProfiles(...profile) });
}

function sent(format: TextFormat, body: JsonObject, ...profile: readonly ProfileSettings[]) {
  const text = format === 'messages' ? { max_tokens: 32_000 } : {};
  const asked = { model: 'test', ...text, messages: [{ role: 'user', content: 'hi' }], ...body };
  const request = requestOf(format, asked).with({ isStream: false });
  const { body: bytes, notes = [] } = adaptRequest(request, routeAt(format, profile));
  return { body: JSON.parse(String(bytes)) as JsonObject, notes };
}

describe('thinking between tools', () => {
  const thinking = { type: 'between_tools' };
  const note = 'approximated thinking between_tools as adaptive';

  it.each([
    ['anthropic', 'claude-opus-5'],
    ['vertex-anthropic', 'claude-opus-5'],
    ['bedrock-anthropic', 'us.anthropic.claude-opus-5'],
    ['azure-anthropic', 'claude-sonnet-5'],
  ])('arrives at Claude: %s', (vendor, model) => {
    const { body, notes } = sent('messages', { thinking }, ...profileOf(vendor, model));
    expect([body['thinking'], notes]).toEqual([thinking, []]);
  });

  it.each([
    ['vllm', 'qwen'],
    ['ollama', 'qwen'],
    ['openrouter', 'qwen/qwen4'],
    ['minimax-anthropic', 'MiniMax-M3'],
    ['none', 'any'],
  ])('is adaptive where other models may be behind the endpoint: %s', (vendor, model) => {
    const profile = profileOf(vendor, model).flatMap((one) => [one, { quirks: one.quirks?.by_format?.['messages'] }]);
    const { body, notes } = sent('messages', { thinking }, ...profile);
    expect(body['thinking']).toMatchObject({ type: 'adaptive' });
    expect(notes).toContain(note);
  });

  it.each([
    ['minimax-anthropic', 'MiniMax-M2.5'],
    ['deepseek-anthropic', 'deepseek-v4'],
    ['moonshot-anthropic', 'kimi-k3'],
    ['zhipu-anthropic', 'glm-5'],
    ['dashscope-anthropic', 'qwen3-max'],
    ['anthropic', 'claude-opus-4-5'],
  ])('is a budget where the model takes no other form: %s', (vendor, model) => {
    const { body, notes } = sent('messages', { thinking }, ...profileOf(vendor, model));
    expect(body['thinking']).toEqual({ type: 'enabled', budget_tokens: 8_192 });
    expect(notes).toContain(note);
  });
});

describe('thinking that is turned off', () => {
  const off = { thinking: { type: 'disabled' } };

  it('stays turned off where the model can', () => {
    for (const [vendor, model] of [
      ['minimax-anthropic', 'MiniMax-M3'],
      ['deepseek-anthropic', 'deepseek-v4'],
    ] as const)
      expect(sent('messages', off, ...profileOf(vendor, model)).body['thinking']).toEqual(off.thinking);
  });

  it.each([
    ['claude-sonnet-5-5', {}, undefined, ['approximated thinking disabled as between_tools']],
    ['claude-sonnet-5-5', { effort: 'low' }, { effort: 'low' }, ['approximated thinking disabled as between_tools']],
    [
      'claude-sonnet-5-5',
      { effort: 'max' },
      { effort: 'high' },
      ['approximated thinking disabled as between_tools', 'approximated reasoning effort as high'],
    ],
  ] as const)('is turned off between tools only: %s with %j', (model, config, expected, notes) => {
    const body = { ...off, ...('effort' in config && { output_config: config }) };
    const adapted = sent('messages', body, ...profileOf('anthropic', model));
    expect([adapted.body['thinking'], adapted.body['output_config'], adapted.notes]).toEqual([
      { type: 'between_tools' },
      expected,
      notes,
    ]);
  });

  it.each(['claude-haiku-5-5', 'claude-opus-5'])('lowers an effort that %s then rejects', (model) => {
    const profile = profileOf('bedrock-anthropic', `us.anthropic.${model}`);
    const lowered = sent('messages', { ...off, output_config: { effort: 'xhigh', format: null } }, ...profile);
    expect(lowered).toMatchObject({
      body: { ...off, output_config: { effort: 'high', format: null } },
      notes: ['approximated reasoning effort as high'],
    });
    const kept = { ...off, output_config: { effort: 'high' } };
    expect(sent('messages', kept, ...profile)).toMatchObject({ body: kept, notes: [] });
    const thinking = { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } };
    expect(sent('messages', thinking, ...profile)).toMatchObject({ body: thinking, notes: [] });
  });

  it.each(['disabled_to_high', 'between_tools'] as const)('keeps to the efforts of the route: %s', (mode) => {
    const quirks: ProfileSettings['quirks'] = { no_thinking: mode, efforts: ['none', 'low', 'medium'] };
    const profile = [...profileOf('anthropic', 'claude-opus-5'), { quirks }];
    for (const effort of ['high', 'max']) {
      const { body, notes } = sent('messages', { ...off, output_config: { effort } }, ...profile);
      expect([body['output_config'], notes]).toEqual([
        { effort: 'medium' },
        expect.arrayContaining(['approximated reasoning effort as medium']),
      ]);
    }
  });

  it('lowers an effort beside between_tools of the client', () => {
    const asked = { thinking: { type: 'between_tools' }, output_config: { effort: 'xhigh' } };
    const { body, notes } = sent('messages', asked, ...profileOf('vertex-anthropic', 'claude-sonnet-5-5'));
    expect([body['thinking'], body['output_config']]).toEqual([asked.thinking, { effort: 'high' }]);
    expect(notes).toEqual(['approximated reasoning effort as high']);
  });

  it('is the least effort where MiniMax always thinks, of its own clients and others', () => {
    const profile = profileOf('minimax-anthropic', 'MiniMax-M2.5');
    const least = { type: 'enabled', budget_tokens: 2_048 };
    const { body, notes } = sent('messages', off, ...profile);
    expect([body['thinking'], notes]).toEqual([least, ['approximated reasoning effort as low']]);
    const route = routeAt('messages', profile);
    const request = requestOf('chat', {
      model: 'test',
      messages: [{ role: 'user', content: 'hi' }],
      reasoning_effort: 'none',
    });
    const call = openCall(exchange, modelOf('test', [], { routes: [route] }), request);
    const translated = JSON.parse(String(call.encode(route).body)) as JsonObject;
    expect(translated['thinking']).toEqual(least);
  });
});

describe('the budget of reasoning beside a limit that was lowered', () => {
  const most = { quirks: { max_output_tokens: 8_000 } };
  const limits = { max_tokens: 32_000 };

  it.each([
    ['messages', { thinking: { type: 'enabled', budget_tokens: 16_000, display: 'omitted' } }],
    ['chat', { thinking: { type: 'enabled', budget_tokens: 16_000 } }],
  ] as const)('is lowered too: %s', (format, asked) => {
    const { body, notes } = sent(format, { ...limits, ...asked }, most);
    expect(body['max_tokens']).toBe(8_000);
    expect(body['thinking']).toEqual({ ...asked.thinking, budget_tokens: 4_000 });
    expect(notes).toEqual(['approximated output token limit as 8000', 'approximated thinking budget as 4000']);
  });

  it('is lowered at OpenRouter too', () => {
    const reasoning = { max_tokens: 16_000, exclude: true };
    const { body } = sent('chat', { ...limits, reasoning }, ...profileOf('openrouter', 'qwen/qwen4'), most);
    expect(body['reasoning']).toEqual({ max_tokens: 4_000, exclude: true });
  });

  it('is left out where the answer has no room for it', () => {
    const { body, notes } = sent(
      'messages',
      { ...limits, thinking: { type: 'enabled', budget_tokens: 16_000 } },
      { quirks: { max_output_tokens: 2_000 } },
    );
    expect(body).not.toHaveProperty('thinking');
    expect(notes).toContain('dropped reasoning: the answer has no room for it');
  });

  it('stays where it fits, and where the client has set the limit', () => {
    const small = { type: 'enabled', budget_tokens: 4_000 };
    expect(sent('messages', { ...limits, thinking: small }, most).body['thinking']).toEqual(small);
    const own = { type: 'enabled', budget_tokens: 6_000 };
    expect(sent('messages', { max_tokens: 5_000, thinking: own }, most).body['thinking']).toEqual(own);
  });
});
