import { service } from '#core/config/sections/core-sections.ts';
import { formatLocalTime } from '#core/platform/timing/time-zone.ts';
import type { CheckoutStep } from '#core/web/pages/checkout-step.ts';
import { FieldErrors } from '#core/web/pages/page.ts';
import { companyLengths, parseCompany } from './company.ts';
import { sellerSection, findTax } from './section.ts';

/** Asked before payment, so that the receipt names the company from the start. */
export const companyStep: CheckoutStep = {
  name: 'receipt',
  fields: companyLengths,
  show({ host, t }) {
    if (host.section(sellerSection).name === undefined) return undefined;
    const tax = findTax(
      host.section(sellerSection),
      formatLocalTime(new Date(host.now()), host.section(service).time_zone).day,
    );
    return {
      ...(tax === undefined ? {} : { sentence: [{ text: t('receipts.prices_include', { tax: tax.name }) }] }),
      fold: {
        title: t('receipts.checkout'),
        text: t('receipts.checkout_more'),
        fields: [
          { name: 'company', label: t('receipts.company'), autocomplete: 'organization' },
          {
            name: 'npwp',
            label: t('receipts.company_npwp'),
            hint: t('receipts.company_npwp_more'),
            inputMode: 'numeric',
          },
        ],
      },
    };
  },
  submit(fields, { host }) {
    if (host.section(sellerSection).name === undefined) return undefined;
    const company = parseCompany(fields);
    if (company !== undefined && 'wrong' in company)
      throw new FieldErrors({ [company.wrong]: `receipts.${company.wrong}_wrong` });
    return async (transaction, { id, isNew }) => {
      // The latest submission determines who the receipt names.
      if (!isNew) await transaction.execute('delete from receipt_company where order_id = ?', [id]);
      if (company !== undefined)
        await transaction.execute('insert into receipt_company (order_id, company, npwp) values (?, ?, ?)', [
          id,
          company.name,
          company.npwp ?? null,
        ]);
      return [];
    };
  },
};
