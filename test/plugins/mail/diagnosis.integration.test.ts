import { describe, expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import type { Finding } from '#core/gateway/diagnosis/finding.ts';
import { mailDiagnosis } from '../../../plugins/mail/diagnosis.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { testCertificate, testKey } from '../../support/tls-upstream.ts';
import { type Script, startScriptedServer } from './scripted-server.ts';

/** What doctor finds at this URL. */
async function diagnose(
  smtp: string,
  alerts: object = { mail: 'boss@example.com' },
  signal = AbortSignal.timeout(30_000),
): Promise<Finding> {
  await using host = createTestHost({ sections: { mail: { smtp, from: 'shop@bücher.example' }, alerts } });
  const [check] = mailDiagnosis.checks(host);
  return (await check?.run(signal)) as Finding;
}

/** What doctor finds with `--mail`. */
async function sendTest(script: Script, contact?: string) {
  await using server = await startScriptedServer(script);
  await using host = createTestHost({
    sections: { mail: { smtp: `smtp://127.0.0.1:${server.port}`, from: 'shop@example.com' } },
  });
  const service = { ...host.service, ...(contact !== undefined && { contact }) };
  const checks = [...mailDiagnosis.checks({ ...host, service, mailAddress: 'ani@example.com' })];
  const finding = await checks.find(({ subject }) => subject === 'test mail')?.run(AbortSignal.timeout(30_000));
  return { subjects: checks.map(({ subject }) => subject), finding, mails: [...server.mails] };
}

async function diagnoseScript(script: Script, user = '', alerts?: object) {
  await using server = await startScriptedServer(script);
  const finding = await diagnose(`smtp://${user}127.0.0.1:${server.port}`, alerts);
  return { ...finding, lines: [...server.lines], mails: [...server.mails] };
}

describe('doctor', () => {
  it('asks the mail server up to the recipient of alerts, and sends no mail', async () => {
    const { state, text, lines, mails } = await diagnoseScript({});
    expect([state, text]).toEqual(['ok', 'takes mail for alerts.mail, without a sign-in']);
    expect(lines.slice(1)).toEqual(['MAIL FROM:<shop@xn--bcher-kva.example>', 'RCPT TO:<boss@example.com>', 'QUIT']);
    expect(mails).toEqual([]);
  });

  it('asks up to the sender where no alerts are mailed', async () => {
    const { state, text, lines } = await diagnoseScript({}, '', {});
    expect([state, text]).toEqual(['ok', 'takes the sender, without a sign-in']);
    expect(lines.at(-2)).toMatch(/^MAIL FROM/);
  });

  it.each<[Script, string, string, string, string]>([
    [{ RCPT: '550 authentication required' }, '', 'failed', 'recipient: ', 'Sign in with user and password'],
    [{ RCPT: '550 relay not permitted' }, 'u:p@', 'failed', 'recipient: ', 'Allow this user to relay mail'],
    [{ RCPT: '550 5.1.1 no such user' }, '', 'failed', 'recipient: ', 'alerts: { mail }'],
    [{ RCPT: '450 greylisted' }, '', 'warning', 'recipient: ', 'rejects mail for now'],
    [{ RCPT: { last: '421 4.7.0 too many' } }, '', 'warning', 'recipient: ', 'rejects mail for now'],
    [{ MAIL: '550 5.7.1 not your address' }, '', 'failed', 'sender: ', 'mail: { from }'],
    [{ MAIL: '530 5.7.0 Authentication required' }, '', 'failed', 'sender: ', 'app password'],
    [{ AUTH: '535 no' }, 'u:p@', 'failed', 'sign in: ', 'app password'],
    [{ greeting: { last: '554 go away' } }, '', 'failed', 'connect: ', 'block port 25'],
  ])('with %j says what to do', async (script, user, state, text, advice) => {
    const found = await diagnoseScript({ EHLO: '250-hello\r\n250 AUTH PLAIN', AUTH: '235 ok', ...script }, user);
    expect(found).toMatchObject({
      state,
      text: expect.stringContaining(text),
      advice: expect.stringContaining(advice),
    });
    expect(found.text).not.toContain('boss@');
  });

  it('names the way out for each mistake about TLS', async () => {
    await using secure = await startMailServer({ secure: true, key: testKey, cert: testCertificate });
    await using plain = await startMailServer();
    const [certificate, unencrypted] = [
      await diagnose(`smtps://localhost:${secure.port}`),
      await diagnose(`smtps://localhost:${plain.port}`),
    ];
    expect(certificate).toMatchObject({ state: 'failed', advice: expect.stringContaining('NODE_EXTRA_CA_CERTS') });
    expect(unencrypted).toMatchObject({
      state: 'failed',
      advice: expect.stringContaining('Use smtp:// with this port'),
    });
    expect(unencrypted.text).not.toContain('openssl');
  });

  it('leaves a server that says nothing at its deadline', async () => {
    await using server = await startScriptedServer({ greeting: () => undefined });
    const url = `smtp://127.0.0.1:${server.port}`;
    expect(await diagnose(url, {}, AbortSignal.timeout(100))).toMatchObject({
      state: 'failed',
      text: expect.stringContaining('no reply in time'),
    });
  });
});

describe('doctor --mail', () => {
  it('sends one mail, with replies to the contact of the service', async () => {
    const { subjects, finding, mails } = await sendTest({}, 'mailto:help@example.com');
    expect(subjects).toEqual(['smtp', 'test mail', 'SPF', 'DMARC', 'DKIM']);
    expect(finding).toMatchObject({ state: 'ok', text: expect.stringContaining('replies to help@example.com') });
    expect(mails).toHaveLength(1);
    expect(String(mails[0])).toMatch(/^Reply-To: help@example\.com\r?$/m);
  });

  it('leaves a server that does not greet at its deadline, which --timeout sets, and sends nothing later', async () => {
    await using server = await startScriptedServer({ greeting: () => undefined });
    await using host = createTestHost({
      sections: { mail: { smtp: `smtp://127.0.0.1:${server.port}`, from: 'shop@example.com' } },
    });
    const checks = [...mailDiagnosis.checks({ ...host, mailAddress: 'ani@example.com', seconds: 3 })];
    const trial = checks.find(({ subject }) => subject === 'test mail');
    const began = performance.now();
    const finding = await trial?.run(AbortSignal.timeout(100));
    expect([trial?.timeout, finding?.state]).toEqual([3, 'failed']);
    expect(finding?.text).toContain('no reply in time');
    expect([performance.now() - began < 5_000, server.lines]).toEqual([true, []]);
  });

  it('says what the server says where it takes none', async () => {
    const { finding, mails } = await sendTest({ RCPT: '550 5.1.1 no such user' });
    expect([finding?.state, mails]).toEqual(['failed', []]);
    expect(finding?.text).toContain('no such user');
  });
});
