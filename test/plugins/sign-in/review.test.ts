import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { Registry } from '#core/extension/registry.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { plugin } from '../../../plugins/sign-in/index.ts';
import { signInSection } from '../../../plugins/sign-in/section.ts';

const google = { google: { client_id: 'id', client_secret: 'secret' } };

/** What `daypass check` says about who can sign in. */
async function review(sections: object, isProduction = false) {
  const registry = new Registry();
  await plugin.register({ gateway: registry } as never, {} as never);
  const [signIn] = registry.configReviews;
  const host = createTestHost({ sections: sections as Readonly<Record<string, unknown>> });
  return signIn?.describe(Object.assign(host, { isProduction }));
}

describe('daypass check', () => {
  it.each([
    ['providers', { sign_in: google, local_sign_in: 'auto' }, false, 'google'],
    ['this machine', { sign_in: {}, local_sign_in: 'auto' }, false, 'on this machine without a password'],
    ['both', { sign_in: google, local_sign_in: 'always' }, false, 'google, on this machine without a password'],
    ['providers alone in production', { sign_in: google, local_sign_in: 'always' }, true, 'google'],
  ])('names how people sign in: %s', async (_title, sections, isProduction, value) => {
    expect(await review(sections, isProduction)).toEqual({ value });
  });

  it('warns if nobody can sign in', async () => {
    expect(await review({ sign_in: {}, local_sign_in: 'auto' }, true)).toMatchObject({
      value: 'nobody',
      notice: expect.stringContaining('Add google or github'),
    });
  });
});

describe('a provider in gateway.yaml', () => {
  const isValid = new Ajv({ strict: false, useDefaults: true }).compile(signInSection.schema);

  it('has a title of forty characters at most', () => {
    expect(isValid({ google: { ...google.google, title: 'x'.repeat(40) } })).toBe(true);
    expect(isValid({ google: { ...google.google, title: 'x'.repeat(41) } })).toBe(false);
    expect(isValid({ google: { ...google.google, title: '' } })).toBe(false);
  });

  it('is not trusted with addresses unless gateway.yaml says so', () => {
    const settings = { google: { ...google.google } };
    isValid(settings);
    expect(settings.google).toMatchObject({ trust_email: false });
  });
});
