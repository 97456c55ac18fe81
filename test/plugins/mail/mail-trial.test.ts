import { describe, expect, it } from 'vitest';
import { checkSender } from '../../../plugins/mail/mail-trial.ts';

const { signal } = new AbortController();

type Records = Readonly<Record<string, readonly string[]>>;

const check = (
  subject: 'SPF' | 'DMARC' | 'DKIM',
  records: Records,
  from = 'shop@mail.example.com',
  selector?: string,
) => checkSender(subject, { from, dkim_selector: selector }, signal, (name) => Promise.resolve(records[name] ?? []));

describe('the SPF record of the sender', () => {
  it.each([
    [['v=spf1 include:_spf.example.net -all', 'site-verification=x'], 'ok', 'mail.example.com: v=spf1 include'],
    [['v=spf10 x'], 'warning', 'has no SPF record'],
    [['v=spf1 -all', 'V=SPF1 ~all'], 'failed', 'has 2 SPF records, so none counts'],
    [['v=spf1 +all'], 'failed', 'lets any server send'],
    [['v=spf1 a all'], 'failed', 'lets any server send'],
    [['v=spf1 redirect=_spf.example.net'], 'ok', 'redirect='],
  ])('%j is %s', async (records, state, text) => {
    const finding = await check('SPF', { 'mail.example.com': records });
    expect(finding).toMatchObject({ state, text: expect.stringContaining(text) });
    expect(finding.advice === undefined).toBe(state === 'ok');
  });
});

describe('the DMARC record of the sender', () => {
  it.each([
    [{ '_dmarc.mail.example.com': ['v=DMARC1; p=reject'] }, 'ok', 'mail.example.com: v=DMARC1'],
    [{ '_dmarc.example.com': ['v=DMARC1;p=none; rua=mailto:x@example.com'] }, 'ok', 'example.com: v=DMARC1'],
    [{ '_dmarc.com': ['v=DMARC1; p=reject'] }, 'warning', 'has no DMARC record'],
    [{ '_dmarc.mail.example.com': ['v=DMARC1; sp=none'] }, 'failed', 'has no policy'],
  ])('%j is %s', async (records: Records, state, text) => {
    expect(await check('DMARC', records)).toMatchObject({ state, text: expect.stringContaining(text) });
  });
});

describe('the DKIM key of the sender', () => {
  const name = 's1._domainkey.mail.example.com';

  it.each([
    [['v=DKIM1; k=rsa; p=MIIB'], 'ok', 'has a key'],
    [['p=MIIB'], 'ok', 'has a key'],
    [['v=DKIM1; p='], 'failed', 'is revoked'],
    [[], 'failed', 'has no key'],
  ])('%j is %s', async (records, state, text) => {
    expect(await check('DKIM', { [name]: records }, undefined, 's1')).toMatchObject({
      state,
      text: expect.stringContaining(text),
    });
  });

  it('is not looked up without a selector', async () => {
    expect(await check('DKIM', {})).toMatchObject({ state: 'skipped', text: expect.stringContaining('dkim_selector') });
  });
});

const silent = () => Promise.reject(Object.assign(new Error('timeout'), { code: 'ETIMEOUT' }));

it('a DNS that does not answer is a warning, and no sender is nothing to check', async () => {
  const finding = await checkSender('SPF', { from: 'a@bücher.example', dkim_selector: undefined }, signal, silent);
  expect(finding).toMatchObject({
    state: 'warning',
    text: 'the DNS does not respond for xn--bcher-kva.example (ETIMEOUT)',
  });
  expect(await checkSender('SPF', { from: undefined, dkim_selector: undefined }, signal)).toMatchObject({
    state: 'skipped',
  });
});
