/**
 * A field at checkout, a line on the receipt, and a page from Markdown: buyers enter their company's reference.
 *
 *     plugins: [./docs/examples/order-reference/index.ts]
 */
import { join } from 'node:path';
import { type CheckoutStep, defineTexts, FieldErrors, type GatewayPlugin, markdownPage } from 'daypass';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

export const texts = defineTexts({ en, id });

export const referenceStep: CheckoutStep = {
  name: 'order-reference',
  fields: { order_reference: 40 }, // at most 40 characters
  show: ({ t }) => ({
    fold: {
      title: t('order_reference.title'),
      fields: [{ name: 'order_reference', label: t('order_reference.label'), hint: t('order_reference.hint') }],
    },
  }),
  submit({ order_reference: reference }) {
    if (reference === undefined) return undefined;
    if (!/^[\w./-]+$/.test(reference)) throw new FieldErrors({ order_reference: 'order_reference.wrong' });
    // Called in the transaction that places the order. The returned value is stored with the order.
    return async () => [
      {
        label: { en: en['order_reference.label'], id: id['order_reference.label'] },
        text: { en: reference, id: reference },
      },
    ];
  },
};

export const guidePage = markdownPage({
  path: '/order-references',
  files: {
    en: join(import.meta.dirname, 'guide.en.md'),
    id: join(import.meta.dirname, 'guide.id.md'),
  },
});

export const plugin: GatewayPlugin = {
  name: 'order-reference',
  register({ gateway }) {
    gateway.texts(texts);
    gateway.checkoutStep(referenceStep);
    gateway.page(guidePage);
  },
};
