import { beforeAll, describe, expect, it } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import { assemble } from '#core/extension/assembly.ts';
import type { Registry } from '#core/extension/registry.ts';
import { validate } from '#core/extension/validation/validate-config.ts';
import { intact, typingErrors } from './typing-errors.ts';

let registry: Registry;
beforeAll(async () => {
  ({ registry } = await assemble(undefined, console, () => {
    throw new Error('nothing is served');
  }));
});

/** Every line that the operator reads, without the name of the file. */
function answerTo(text: string, environment: NodeJS.ProcessEnv = {}): string[] {
  try {
    validate(parseDocument(text, 'gateway.yaml', environment), registry);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n').map((line) => line.replace('gateway.yaml:', ''));
  }
}

describe('a gateway.yaml', () => {
  it('is accepted without a typing error', () => {
    expect(answerTo(intact)).toEqual([]);
  });

  it.each(typingErrors)('is refused with $name', ({ meant, typed, answer, environment }) => {
    expect(intact).toContain(meant);
    expect(
      answerTo(
        intact.replace(meant, () => typed),
        environment,
      ),
    ).toEqual(answer);
  });

  it('never has its secrets in an answer', () => {
    const secrets = /sk-(first|second|third)|0123456789abc|hunter22|1234567890123|12345678|abcdef/;
    expect(typingErrors.flatMap(({ answer }) => answer).filter((line) => secrets.test(line))).toEqual([]);
  });

  it.each([
    ['a tab after a colon', 'prefix: dp', 'prefix:\tdp'],
    ['a section without content', 'listen:\n  host: 127.0.0.1\n  port: 8080\n', 'listen:\n'],
    ['the number of a variable in double quotes', 'port: 8080', 'port: "${PORT}"'],
    ['the number of a variable in single quotes', 'port: 8080', "port: '${PORT}'"],
    ['a stage that is turned off', '- log: { keep_days: 30 }', '- log: false'],
    [
      'a short deadline, although the default of a timeout is longer',
      'first_byte_timeout: 60, deadline: 180',
      'deadline: 30',
    ],
    ['the word of an endpoint in a path of its own', 'llm.example.com/v1', 'llm.example.com/messages'],
    ['a long pause inside a stream', 'deadline: 180', 'deadline: 180, idle_timeout: 600'],
    [
      'another format at a base URL of its own',
      'vendor: anthropic',
      'vendor: anthropic\n    format: chat\n    base_url: https://llm.example.com/v1',
    ],
    ['special spaces and quotes inside a text', 'name: Daypass', 'name: Joe\u2019s\u00a0“Daypass” # \u00a0\u200b'],
    ['a text of several lines in quotes', 'name: Daypass', 'name: "Day\n    pass"'],
    ['an address of IPv6', 'host: 127.0.0.1', 'host: "::1"'],
    ['a fraction', 'period: 60', 'period: 1.500'],
  ])('is accepted with %s', (_name, meant, typed) => {
    expect(intact).toContain(meant);
    expect(
      answerTo(
        intact.replace(meant, () => typed),
        { PORT: '9090' },
      ),
    ).toEqual([]);
  });
});
