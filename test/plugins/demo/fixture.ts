import Anthropic from '@anthropic-ai/sdk';
import OldAnthropic from 'anthropic-sdk-0';
import OpenAI from 'openai';
import { afterAll, beforeAll } from 'vitest';
import { type DemoUpstream, startDemoUpstream } from '../../../plugins/demo/server.ts';

/** A demo for one test file, with the clients that people use. None of them repeats a request. */
export class DemoFixture {
  #upstream: DemoUpstream | undefined;

  constructor() {
    beforeAll(async () => {
      this.#upstream = await startDemoUpstream({ pace: 0 });
    });
    afterAll(() => this.#upstream?.[Symbol.asyncDispose]());
  }

  get url(): string {
    if (this.#upstream === undefined) throw new Error('the demo runs only during tests');
    return this.#upstream.url;
  }

  get openai(): OpenAI {
    return new OpenAI({ baseURL: `${this.url}/v1`, apiKey: 'none', maxRetries: 0 });
  }

  get anthropic(): Anthropic {
    return new Anthropic({ baseURL: this.url, apiKey: 'none', maxRetries: 0 });
  }

  get oldAnthropic(): OldAnthropic {
    return new OldAnthropic({ baseURL: this.url, apiKey: 'none', maxRetries: 0 });
  }

  post(path: string, body: object | string, signal?: AbortSignal): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal && { signal }),
    });
  }
}

/** A tool, as JSON Schema says it; each format wraps it in its own way. */
export const weather = {
  type: 'object',
  properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
  required: ['city', 'unit'],
  additionalProperties: false,
} as const;

/** Members that the SDKs add to what is on the wire. */
const added = new Set(['parsed', 'parsed_arguments', 'parsed_output', 'output_parsed', 'output_text']);

/** Two answers that say the same are equal without ids and times, and without what the SDKs add. */
export function essence(value: unknown): unknown {
  const text = JSON.stringify(value, (name, member: unknown) => (added.has(name) ? undefined : member))
    .replaceAll(/demo[0-9a-f]{20}/g, 'demo')
    .replaceAll(/"(created|created_at|completed_at)":\d+/g, '"$1":0')
    .replaceAll(/"(signature|encrypted_content)":"[^"]+"/g, '"$1":"…"');
  return JSON.parse(text) as unknown;
}
