import { parseNetwork } from '#core/gateway/http/network.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { object, string } from '#core/platform/schema.ts';
import { takeRequest } from '#core/platform/shared/shared.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { accountOf, defineForm, FieldErrors, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { companyLengths, parseCompany } from './company.ts';
import { describeReceipt } from './describe.ts';
import { verifyToken, signedPath } from './link.ts';
import { listReceipts, buildOwnPath, type PaymentReceipt, readPaymentReceipt } from './read.ts';

const hourSeconds = 3_600;
const maxOpensPerHour = 120; // signed links, valid or not, per network

const view = { template: 'receipts/receipt.eta', styles: ['receipts/receipts.css'], title: 'receipts.title' } as const;

const companyForm = defineForm({
  path: '/receipts/{id}/company',
  fields: object(['company'], {
    company: string({ maxLength: companyLengths.company }),
    npwp: string({ maxLength: companyLengths.npwp }),
  }),
  async submit(input, request) {
    const { receipt } = await requireOwnReceipt(request);
    const company = parseCompany(input);
    if (company === undefined) throw new FieldErrors({ company: 'receipts.company_missing' });
    if ('wrong' in company) throw new FieldErrors({ [company.wrong]: `receipts.${company.wrong}_wrong` });
    await addCompany(request.host.database, receipt.id, company);
    return new Redirect(buildOwnPath(receipt.id));
  },
});

/** @throws PageError 409 if the receipt already names a company */
async function addCompany(
  database: Queries,
  id: string,
  { name, npwp }: { readonly name: string; readonly npwp: string | undefined },
): Promise<void> {
  const added = await database.query(
    `update receipt set added_company = ?, added_npwp = ?, added_at = clock_timestamp()
     where id = ? and company is null and added_at is null returning 1`,
    [name, npwp ?? null, id],
  );
  if (added.length === 0) throw new PageError(409, 'receipts.company_given');
}

/** `?issued=1` leaves out a company that was added later. */
export const ownReceiptPage: Page = {
  ...view,
  path: '/receipts/{id}',
  role: 'account',
  layout: 'plain',
  async show(request) {
    const paymentReceipt = await requireOwnReceipt(request);
    const { id, orderId, company, addedAt } = paymentReceipt.receipt;
    const isAsIssued = request.query['issued'] === '1';
    return {
      ...describeReceipt(paymentReceipt, request, { isAsIssued }),
      other:
        addedAt === undefined
          ? undefined
          : {
              path: isAsIssued ? buildOwnPath(id) : `${buildOwnPath(id)}?issued=1`,
              label: isAsIssued ? 'receipts.current' : 'receipts.as_issued',
            },
      others: (await listReceipts(request.host.database, orderId))
        .filter(({ kind, path }) => kind === 'payment' && path !== buildOwnPath(id))
        .map(({ path }) => path),
      companyPath: company === undefined && addedAt === undefined ? `${buildOwnPath(id)}/company` : '',
      companyLengths,
      back: { path: '/orders', label: 'receipts.back_to_orders' },
    };
  },
  forms: [companyForm],
};

/** Stays available after the account is deleted. */
export const operatorReceiptPage: Page = {
  ...view,
  path: '/operator/receipts/{id}',
  role: 'operator',
  async show(request) {
    const paymentReceipt = await readPaymentReceipt(request.host.database, request.params['id'] ?? '');
    if (paymentReceipt === undefined) throw createUnknownReceiptError();
    return {
      ...describeReceipt(paymentReceipt, request),
      other: undefined,
      companyPath: '',
      back: { path: '/operator/receipts', label: 'operator.receipts' },
    };
  },
};

/** Works until the link expires or the account is deleted. */
export const signedReceiptPage: Page = {
  ...view,
  path: `${signedPath}/{token}`,
  role: 'public',
  layout: 'plain',
  isConfidential: true,
  async show(request) {
    const { host, address, params } = request;
    const limits = { limit: maxOpensPerHour, period: hourSeconds, burst: maxOpensPerHour };
    if ((await takeRequest(host.shared, `receipt:network:${parseNetwork(address)}`, limits)) !== undefined)
      throw new PageError(429, 'receipts.too_many');
    const id = await verifyToken(host.database, params['token'] ?? '', host.now());
    const paymentReceipt = id === undefined ? undefined : await readPaymentReceipt(host.database, id);
    if (paymentReceipt === undefined || !(await isAccountOpen(host.database, paymentReceipt.receipt.accountId)))
      throw new PageError(404, 'receipts.link_over', { action: { path: '/orders', label: 'receipts.back_to_orders' } });
    return {
      ...describeReceipt(paymentReceipt, request, { isMasked: true }),
      other: undefined,
      companyPath: '',
      back: undefined,
    };
  },
};

async function isAccountOpen(database: Queries, accountId: string): Promise<boolean> {
  const [account] = await database.query('select 1 from account where id = ? and deleted_at is null', [accountId]);
  return account !== undefined;
}

async function requireOwnReceipt(request: PageRequest): Promise<PaymentReceipt> {
  const paymentReceipt = await readPaymentReceipt(request.host.database, request.params['id'] ?? '');
  if (paymentReceipt?.receipt.accountId !== accountOf(request).id || paymentReceipt === undefined)
    throw createUnknownReceiptError();
  return paymentReceipt;
}

function createUnknownReceiptError(): PageError {
  return new PageError(404, 'receipts.unknown');
}
