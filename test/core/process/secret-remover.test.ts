import { expect, it } from 'vitest';
import { collectSecrets } from '#core/config/file/hide-secrets.ts';
import { createSecretRemover } from '#core/process/secret-remover.ts';

it('secrets of a value are the texts that its schema calls secret', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      smtp: { type: 'string', writeOnly: true },
      keys: { type: 'array', items: { type: 'string', writeOnly: true } },
    },
  } as const;
  const value = { name: 'shop', smtp: 'smtp://u:p4ssw0rd@mail', keys: ['sk-one-123', 'sk-two-123'] };
  expect(collectSecrets(value, schema)).toEqual(['smtp://u:p4ssw0rd@mail', 'sk-one-123', 'sk-two-123']);
  expect(collectSecrets({ name: 'shop' }, schema)).toEqual([]);
});

it('the secret remover takes configured secrets, passwords in URLs and secret variables from what servers answer', () => {
  const environment = {
    OPENAI_API_KEY: 'sk-env-12345',
    DATABASE_URL: 'postgres://u:db-p%40ss@host/d',
    HOME: '/home/shop',
  };
  const remove = createSecretRemover(environment, ['smtp://u:p4ssw0rd@mail', 'sk-file-12345']);
  expect(remove('refused sk-env-12345, sk-file-12345, db-p@ss, db-p%40ss, p4ssw0rd in /home/shop')).toBe(
    'refused ***, ***, ***, ***, *** in /home/shop',
  );
  expect(remove('see https://user:whatever@example.com/x')).toBe('see https://***@example.com/x');
});
