import { describe, expect, it } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import { hideCredentials, maskSecrets, canContainSecret } from '#core/config/file/hide-secrets.ts';

describe('a message about a value with variables', () => {
  const environment = { SHORT: 'sk-1', LONG: 'sk-1-and-more' };
  const { createMistake: mistake } = parseDocument('plugins: ["${SHORT} ${LONG}"]', 'gateway.yaml', environment);

  it('shows their names, where it contains their values without quotes', () => {
    const { wrong } = mistake(['plugins', 0], 'cannot read sk-1-and-more', '');
    expect(wrong).toBe('cannot read ${LONG}');
  });

  it('shows the longer one where one value is part of another', () => {
    const { wrong } = mistake(['plugins', 0], 'found sk-1, then sk-1-and-more, then sk-1', '');
    expect(wrong).toBe('found ${SHORT}, then ${LONG}, then ${SHORT}');
  });
});

describe('a secret option', () => {
  const schema = {
    type: 'object',
    properties: {
      token: { type: 'string', writeOnly: true },
      keys: { type: 'array', items: { type: 'string', writeOnly: true } },
      headers: { type: 'object', additionalProperties: { type: 'string', writeOnly: true } },
      either: {
        anyOf: [{ type: 'number' }, { type: 'object', properties: { key: { type: 'string', writeOnly: true } } }],
      },
      name: { type: 'string' },
    },
  } as const;

  it('is masked wherever it is', () => {
    const value = { token: 'a', keys: ['b', 'c'], headers: { x: 'd' }, either: { key: 'e' }, name: 'f' };
    expect(maskSecrets(value, schema)).toEqual({
      token: '***',
      keys: ['***', '***'],
      headers: { x: '***' },
      either: { key: '***' },
      name: 'f',
    });
  });

  it('is found inside the options that contain it', () => {
    expect([
      canContainSecret(schema),
      canContainSecret(schema.properties.either),
      canContainSecret(schema.properties.name),
    ]).toEqual([true, true, false]);
  });
});

describe('a URL in a message', () => {
  it.each([
    ['https://me:secret@host/v1', 'https://…@host/v1'],
    ['htps://token@host', 'htps://…@host'],
    ['https://host/v1?key=secret', 'https://host/v1?…'],
    ['https://host/v1', 'https://host/v1'],
    ['what is this?', 'what is this?'],
  ])('%s is shown as %s', (text, shown) => {
    expect(hideCredentials(text)).toBe(shown);
  });
});
