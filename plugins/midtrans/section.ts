import {
  type CheckContext,
  defineSection,
  rejectTestMember,
  type Report,
  type SectionValue,
} from '#core/config/section.ts';
import { object, string } from '#core/platform/schema.ts';

const origins = { sandbox: 'https://api.sandbox.midtrans.com', production: 'https://api.midtrans.com' };
const sandboxKey = /^SB-/;
const clientKey = /^(SB-)?Mid-client-/;

export const midtransSection = defineSection({
  name: 'midtrans',
  schema: object({ default: {} }, 'Account at Midtrans (Core API, QRIS), used when `payments.provider` is midtrans.', {
    server_key: string(
      { writeOnly: true, maxLength: 200, pattern: '^[!-~]*$' },
      'Server key, from Settings, Access Keys: SB-Mid-server-… for the sandbox, Mid-server-… for production.',
    ),
    merchant_id: string(
      { pattern: '^[A-Za-z0-9]+$' },
      'Merchant id, such as G123456789. Notifications for another id are rejected.',
    ),
    acquirer: string(
      { enum: ['gopay', 'airpay shopee'], default: 'gopay' },
      'Bank or wallet that issues the QR codes; it must be active for the account.',
    ),
    base_url: string(
      { pattern: '^https?://[^\\s/]+$' },
      'Origin of the API, for tests. Default: the sandbox or production origin, depending on the key.',
    ),
  }),
  check({ base_url }, report, { production }) {
    if (base_url !== undefined) rejectTestMember(['midtrans', 'base_url'], production, report);
  },
});

export type MidtransSettings = SectionValue<typeof midtransSection>;

export function checkMidtrans(all: CheckContext, report: Report): void {
  if (!all.isValid(midtransSection)) return;
  const { server_key } = all.get(midtransSection);
  if (server_key === undefined) {
    report(
      ['payments', 'provider'],
      'is midtrans, but midtrans.server_key is missing',
      'add the section midtrans with it',
    );
  } else if (server_key === '') {
    report(['midtrans', 'server_key'], 'is empty', 'set it to the server key of your account');
  } else if (clientKey.test(server_key)) {
    report(
      ['midtrans', 'server_key'],
      'is a client key, which can neither charge nor verify anything',
      'use the server key next to it in Settings, Access Keys: SB-Mid-server-… or Mid-server-…',
    );
  } else if (all.production !== undefined && sandboxKey.test(server_key)) {
    report(
      ['midtrans', 'server_key'],
      `is a sandbox key, with which payments move no money, ${all.production.because}`,
      `use a production key, Mid-server-…${all.production.unless}`,
    );
  }
}

/** @throws Error if there is no key, because notifications could not be verified */
export function requireKey({ server_key }: MidtransSettings): string {
  if (server_key === undefined || server_key === '') throw new Error('midtrans.server_key is missing');
  return server_key;
}

export function isTestMode({ server_key = '' }: Pick<MidtransSettings, 'server_key'>): boolean {
  return sandboxKey.test(server_key);
}

export function getApiOrigin({ base_url, server_key }: MidtransSettings): string {
  return base_url ?? origins[isTestMode({ server_key }) ? 'sandbox' : 'production'];
}
