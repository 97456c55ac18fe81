import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { alertsSection } from '#core/business/mail/alerts-section.ts';
import { wakeAlertSenders, wakeMailSender } from '#core/business/mail/jobs.ts';
import { mailSection } from '#core/business/mail/section.ts';
import { type CheckContext, type Section, listSectionNotices } from '#core/config/section.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';

/** Paths of what a section finds wrong with its values. */
function mistakesOf(section: Section, values: object, mail: object = {}): string[] {
  const found: string[] = [];
  const host = createTestHost({ sections: { mail } });
  const report = (path: readonly (string | number)[]) => void found.push(path.join('.'));
  section.check?.(values as never, report, { get: host.section } as unknown as CheckContext);
  return found;
}

const smtp = 'smtp://mail.example:587';
const secret = 'a secret of the operator';

describe('mail in gateway.yaml', () => {
  it.each([
    ['smtps://mail.example:587', ['mail.smtp']],
    ['smtp://mail.example:587', []],
    ['smtps://mail.example:465', []],
    ['mail.example', ['mail.smtp']],
    ['', []],
  ])('with the server %s has mistakes in %j', (server, wrong) => {
    expect(mistakesOf(mailSection, { smtp: server, from: 'pass@shop.example', plan_ending: true })).toEqual(wrong);
  });
});

describe('alerts in gateway.yaml', () => {
  it('by mail need a mail server', () => {
    expect(mistakesOf(alertsSection, { mail: 'boss@example.com' })).toEqual(['alerts.mail']);
    expect(mistakesOf(alertsSection, { mail: 'boss@example.com' }, { smtp })).toEqual([]);
    expect(mistakesOf(alertsSection, {})).toEqual([]);
  });

  it.each([
    ['https://hooks.example.com/x', []],
    ['http://127.0.0.1:9/x', []],
    ['http://hooks.example.com/x', ['alerts.webhook.url']],
    ['https://', ['alerts.webhook.url']],
  ])('to the webhook %s have mistakes in %j', (url, wrong) => {
    expect(mistakesOf(alertsSection, { webhook: { url, secret } })).toEqual(wrong);
  });

  it.each([
    ['whsec_not base64 at all!', [expect.stringMatching(/is not base64/)]],
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', []],
    ['a secret of any letters and length', []],
    [undefined, []],
  ])('signed with the secret %s have the notices %j', (given, notices) => {
    const value = given === undefined ? {} : { webhook: { secret: given } };
    expect(listSectionNotices([alertsSection], { get: () => value as never })).toEqual(notices);
  });

  it('are signed with a secret of 24 characters at least', () => {
    const isValid = new Ajv({ strict: false }).compile(alertsSection.schema);
    const url = 'https://hooks.example.com/x';
    expect(isValid({ webhook: { url, secret: 'x'.repeat(24) } })).toBe(true);
    expect(isValid({ webhook: { url, secret: 'x'.repeat(23) } })).toBe(false);
    expect(isValid({ webhook: { url } })).toBe(false);
  });
});

/** Wakes the mails at these times of the process, and returns the ids of the jobs. */
async function wakeAt(times: readonly number[], now: () => number): Promise<(string | undefined)[]> {
  await using host = createTestHost({ sections: { mail: { smtp } } });
  const ids: (string | undefined)[] = [];
  const add = async (_name: string, _data: unknown, { id }: { id?: string } = {}) => void ids.push(id);
  for (const time of times)
    await wakeMailSender({ ...host, now, monotonic: () => time, jobs: { ...host.jobs, add } } as typeof host);
  return ids;
}

describe('an event', () => {
  it.each([
    ['that is mailed', wakeMailSender, { mail: { smtp } }, ['send-mails']],
    ['that is mailed', wakeMailSender, { alerts: { webhook: { url: 'https://hooks.example.com', secret } } }, []],
    [
      'that is an alert',
      wakeAlertSenders,
      { alerts: { webhook: { url: 'https://hooks.example.com', secret } } },
      ['send-webhooks'],
    ],
    ['that is an alert', wakeAlertSenders, { mail: { smtp } }, ['send-mails']],
    ['that is an alert', wakeAlertSenders, {}, []],
  ] as const)('%s wakes %o with %j: %j', async (_event, wake, sections, jobs) => {
    await using host = createTestHost({ sections });
    await wake(host);
    expect(host.addedJobs.map(({ name }) => name)).toEqual(jobs);
  });

  it('enqueues one job a second, however many events there are in it', async () => {
    const ids = await wakeAt([5_000, 5_999, 6_000], () => 1_700_000_000_000);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it('enqueues another job after the clock was set back', async () => {
    let now = 1_700_000_001_000;
    const ids = await wakeAt([5_000, 6_000], () => (now -= 1_000));
    expect(new Set(ids).size).toBe(2);
  });
});
