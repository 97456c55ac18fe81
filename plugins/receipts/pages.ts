import type { Database } from '#core/platform/database/database.ts';
import { object, string } from '#core/platform/schema.ts';
import { refusedFor } from '#core/platform/shared/shared.ts';
import { networkOf } from '#core/gateway/http/network.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { accountOf, defineForm, FieldErrors, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { companyLengths, readCompany } from './company.ts';
import { describeReceipt } from './describe.ts';
import { readToken, signedPath } from './link.ts';
import { listReceipts, ownPath, type PaymentReceipt, readPaymentReceipt } from './read.ts';

const hour = 3_600;
/** Signed links that one network may open per hour, valid or not. */
const opensPerHour = 120;

const sheet = { template: 'receipts/receipt.eta', styles: ['receipts/receipts.css'], title: 'receipts.title' } as const;

const companyForm = defineForm({
  path: '/receipts/{id}/company',
  fields: object(['company'], {
    company: string({ maxLength: companyLengths.company }),
    npwp: string({ maxLength: companyLengths.npwp }),
  }),
  async submit(input, request) {
    const { receipt } = await requireOwn(request);
    const company = readCompany(input);
    if (company === undefined) throw new FieldErrors({ company: 'receipts.company_missing' });
    if ('wrong' in company) throw new FieldErrors({ [company.wrong]: `receipts.${company.wrong}_wrong` });
    await addCompany(request.host.database, receipt.id, company);
    return new Redirect(ownPath(receipt.id));
  },
});

/** Adds a company to a receipt without one; a receipt that names a company keeps it. */
async function addCompany(
  database: Pick<Database, 'query'>,
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

/** `/receipts/{id}`: printable receipt of the reader's payment. `?issued=1` shows it as issued, without a company added later. */
export const ownReceiptPage: Page = {
  ...sheet,
  path: '/receipts/{id}',
  role: 'account',
  layout: 'plain',
  async show(request) {
    const found = await requireOwn(request);
    const { id, orderId, company, addedAt } = found.receipt;
    const isAsIssued = request.query['issued'] === '1';
    return {
      ...describeReceipt(found, request, { isAsIssued }),
      other:
        addedAt === undefined
          ? undefined
          : {
              path: isAsIssued ? ownPath(id) : `${ownPath(id)}?issued=1`,
              label: isAsIssued ? 'receipts.current' : 'receipts.as_issued',
            },
      others: (await listReceipts(request.host.database, orderId))
        .filter(({ kind, path }) => kind === 'payment' && path !== ownPath(id))
        .map(({ path }) => path),
      companyPath: company === undefined && addedAt === undefined ? `${ownPath(id)}/company` : '',
      companyLengths,
      back: { path: '/orders', label: 'receipts.back_to_orders' },
    };
  },
  forms: [companyForm],
};

/** The receipt for operators, available even after the account is deleted. */
export const operatorReceiptPage: Page = {
  ...sheet,
  path: '/operator/receipts/{id}',
  role: 'operator',
  async show(request) {
    const found = await readPaymentReceipt(request.host.database, request.params['id'] ?? '');
    if (found === undefined) throw unknown();
    return {
      ...describeReceipt(found, request),
      other: undefined,
      companyPath: '',
      back: { path: '/operator/receipts', label: 'operator.receipts' },
    };
  },
};

/** `/receipt/{token}`, linked in mails: one receipt without signing in, until the link expires or the account is deleted. */
export const signedReceiptPage: Page = {
  ...sheet,
  path: `${signedPath}/{token}`,
  role: 'public',
  layout: 'plain',
  isConfidential: true,
  async show(request) {
    const { host, address, params } = request;
    const limits = { limit: opensPerHour, period: hour, burst: opensPerHour };
    if ((await refusedFor(host.shared, `receipt:network:${networkOf(address)}`, limits)) !== undefined)
      throw new PageError(429, 'receipts.too_many');
    const id = await readToken(host.database, params['token'] ?? '', host.now());
    const found = id === undefined ? undefined : await readPaymentReceipt(host.database, id);
    if (found === undefined || !(await isOpen(host.database, found.receipt.accountId)))
      throw new PageError(404, 'receipts.link_over', { action: { path: '/orders', label: 'receipts.back_to_orders' } });
    return {
      ...describeReceipt(found, request, { isMasked: true }),
      other: undefined,
      companyPath: '',
      back: undefined,
    };
  },
};

async function isOpen(database: Pick<Database, 'query'>, accountId: string): Promise<boolean> {
  const [account] = await database.query('select 1 from account where id = ? and deleted_at is null', [accountId]);
  return account !== undefined;
}

/** @throws PageError 404 if the receipt does not exist or belongs to another account */
async function requireOwn(request: PageRequest): Promise<PaymentReceipt> {
  const found = await readPaymentReceipt(request.host.database, request.params['id'] ?? '');
  if (found?.receipt.accountId !== accountOf(request).id || found === undefined) throw unknown();
  return found;
}

function unknown(): PageError {
  return new PageError(404, 'receipts.unknown');
}
