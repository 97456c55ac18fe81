import { AccountError } from '#core/business/accounts/account-error.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { runInBackground } from '#core/platform/background.ts';
import { object, string } from '#core/platform/schema.ts';
import { accountOf, defineForm, FieldErrors, type Page } from '#core/web/pages/page.ts';
import { hasOpenVouchers } from './voucher-batches.ts';
import { redeemVoucher, VoucherError } from './vouchers.ts';

const maxInputLength = 100; // a code has 16 characters, but may be pasted with text around it

const redeemForm = defineForm({
  fields: object(['code'], { code: string({ minLength: 1, maxLength: maxInputLength }) }),
  async submit({ code }, request) {
    const { host, format, t, address } = request;
    try {
      const { days, startsAt, endsAt, isNew } = await redeemVoucher(host, accountOf(request).id, code, address);
      // Redeeming a code again from the same account is not an error; it repeats the result.
      return {
        redeemed: {
          title: t(isNew ? 'vouchers.added' : 'vouchers.added_before', { count: days }),
          text: t('vouchers.span', { from: format.time(startsAt).text, until: format.time(endsAt).text }),
        },
      };
    } catch (error) {
      if (error instanceof VoucherError) {
        const retryMinutes = Math.max(1, Math.ceil((error.retryAfterSeconds ?? 0) / 60));
        // Only the text for too many attempts uses the count.
        throw new FieldErrors({ code: `vouchers.${error.kind}` }, { count: retryMinutes });
      }
      if (error instanceof AccountError && error.kind === 'too_many_days')
        throw new FieldErrors({ code: 'vouchers.too_many_days' });
      throw error;
    }
  },
});

const checkIntervalMs = 60_000;

/** The result is cached, so that menus do not wait for the database. */
class OpenVoucherCheck {
  mayExist = false;
  #checkedAt = -Infinity;

  refresh(host: Host): void {
    if (host.monotonic() - this.#checkedAt < checkIntervalMs) return;
    this.#checkedAt = host.monotonic();
    runInBackground(host.log, 'looking for open vouchers', async () => {
      this.mayExist = await hasOpenVouchers(host.database);
    });
  }
}

/** A link may contain the code, `/redeem?code=…`, but it is redeemed only when the button is pressed. */
export const redeemPage: Page = {
  path: '/redeem',
  role: 'account',
  layout: 'plain',
  title: 'vouchers.title',
  navigation: { label: 'vouchers.title', icon: 'plus', order: 15, place: 'menu' },
  isListed(host) {
    const check = host.keep('vouchers/open', () => new OpenVoucherCheck());
    check.refresh(host);
    return check.mayExist;
  },
  template: 'vouchers/redeem.eta',
  show: ({ form, query }) => ({
    code: form.values['code'] ?? (query['code'] ?? '').slice(0, maxInputLength),
    redeemed: undefined,
  }),
  forms: [redeemForm],
};
