import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { createUpstream } from '../../../support/faulty-upstream.ts';
import { createRelayFixture, exchangeFor, routeTo, serve, textOf, upstreamAt } from '../fixture.ts';

/** Characters that decide to which machine a request goes, and in each block of a cached prefix: OpenAI's 256 and 128 tokens. */
const [routed, block] = [1_024, 512];
const machines = 16;

/**
 * A vendor that caches prompts as OpenAI's guide says: a request goes to a machine by a hash of the beginning of its prompt together with
 * `prompt_cache_key`, and each machine has the prefixes that it has seen. https://developers.openai.com/docs/guides/prompt-caching
 */
class ScriptedVendor {
  readonly #seen = Array.from({ length: machines }, () => new Set<string>());
  cached = 0; // characters
  all = 0;

  take(prompt: string, cacheKey: string): void {
    const digest = createHash('sha256')
      .update(`${prompt.slice(0, routed)}\n${cacheKey}`)
      .digest();
    const seen = this.#seen[(digest[0] ?? 0) % machines] as Set<string>;
    const prefixes = Array.from({ length: Math.floor(prompt.length / block) }, (_, at) =>
      prompt.slice(0, (at + 1) * block),
    );
    this.cached += (prefixes.findLast((prefix) => seen.has(prefix)) ?? '').length;
    this.all += prompt.length;
    for (const prefix of prefixes) seen.add(prefix);
  }
}

it('a session without a name is not sent as prompt_cache_key, with which conversations would lose what they share', async () => {
  const fixture = createRelayFixture();
  fixture.secret = 'of the installation';
  await using upstream = await createUpstream(serve);
  const route = routeTo(upstreamAt(upstream.url, { apiKeys: ['a', 'b'] }));
  const instructions = 'You are an agent with many tools. '.repeat(600);
  const [conversations, turns] = [20, 3];
  for (let turn = 1; turn <= turns; turn++)
    for (let index = 0; index < conversations; index++) {
      const said = Array.from({ length: turn }, (_, at) => [
        { role: 'user', content: `${index}/${at} `.repeat(200) },
        { role: 'assistant', content: `${index}/${at} done` },
      ]).flat();
      const body = { model: 'test', max_tokens: 9, system: instructions, messages: said.slice(0, -1) };
      await textOf(await fixture.relay(exchangeFor([route], { format: 'messages', body })));
    }
  const [asSent, withKeys] = [new ScriptedVendor(), new ScriptedVendor()];
  for (const request of upstream.requests) {
    const { messages, prompt_cache_key: key } = request.json<{
      messages: { content: string }[];
      prompt_cache_key?: string;
    }>();
    expect(key).toBeUndefined();
    const prompt = messages.map(({ content }) => JSON.stringify(content)).join('\n');
    asSent.take(prompt, '');
    withKeys.take(prompt, messages[1]?.content ?? '');
  }
  expect(upstream.requests).toHaveLength(conversations * turns);
  // Each conversation has its instructions cached from the first turn on, except the very first.
  expect(asSent.cached / asSent.all).toBeGreaterThan(0.9);
  expect(withKeys.cached / withKeys.all).toBeLessThan(0.85);
});
