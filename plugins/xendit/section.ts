import {
  type CheckContext,
  defineSection,
  rejectTestMember,
  type Report,
  type SectionValue,
} from '#core/config/section.ts';
import { object, string } from '#core/platform/schema.ts';

const origin = 'https://api.xendit.co';
const testKey = /^xnd_development_/;

export const xenditSection = defineSection({
  name: 'xendit',
  schema: object(
    { default: {} },
    'Account at Xendit (Payments API v3, QRIS), used when `payments.provider` is xendit.',
    {
      secret_key: string(
        { writeOnly: true, maxLength: 300, pattern: '^[!-~]*$' },
        'Secret key: xnd_development_… moves no money, xnd_production_… does. It must be allowed to write payments and refunds.',
      ),
      webhook_token: string(
        { writeOnly: true, maxLength: 300, pattern: '^[!-~]*$' },
        'Webhook verification token, from Settings, Webhooks. Test and live mode have different tokens.',
      ),
      business_id: string(
        { pattern: '^[A-Za-z0-9]+$' },
        'Business id of the account. Notifications for another id are rejected.',
      ),
      base_url: string({ pattern: '^https?://[^\\s/]+$' }, `Origin of the API, for tests. Default: ${origin}.`),
    },
  ),
  check({ base_url }, report, { production }) {
    if (base_url !== undefined) rejectTestMember(['xendit', 'base_url'], production, report);
  },
});

export type XenditSettings = SectionValue<typeof xenditSection>;

export function checkXendit(all: CheckContext, report: Report): void {
  if (!all.isValid(xenditSection)) return;
  const settings = all.get(xenditSection);
  for (const name of ['secret_key', 'webhook_token'] as const) {
    const value = settings[name];
    if (value === undefined)
      report(['payments', 'provider'], `is xendit, but xendit.${name} is missing`, 'add the section `xendit` with it');
    else if (value === '') report(['xendit', name], 'is empty', 'set it to the value in your account');
  }
  if (all.production !== undefined && isTestMode(settings))
    report(
      ['xendit', 'secret_key'],
      `is a test mode key, with which payments move no money, ${all.production.because}`,
      `use a live key, xnd_production_…${all.production.unless}`,
    );
}

/** @throws Error without the secret, because no call or notification could be trusted */
export function requireSecret(settings: XenditSettings, name: 'secret_key' | 'webhook_token'): string {
  const value = settings[name];
  if (value === undefined || value === '') throw new Error(`xendit.${name} is missing`);
  return value;
}

export function getApiOrigin({ base_url }: XenditSettings): string {
  return base_url ?? origin;
}

export function isTestMode({ secret_key = '' }: XenditSettings): boolean {
  return testKey.test(secret_key);
}

/** Test mode accepts 60 calls a minute to each endpoint, live mode 600. */
export function getCallsPerSecond(settings: XenditSettings): number {
  return isTestMode(settings) ? 1 : 10;
}
