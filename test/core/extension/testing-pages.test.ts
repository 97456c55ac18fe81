import { describe, expect, it } from 'vitest';
import { runCheckoutStep, showPage } from '#core/extension/testing/index.ts';
import { guidePage, referenceStep, texts } from '../../../docs/examples/order-reference/index.ts';

describe('runCheckoutStep', () => {
  it('shows a step to a buyer, and returns the lines that it stores with the order', async () => {
    const run = await runCheckoutStep(referenceStep, { order_reference: 'PO/4711' }, { texts, language: 'id' });
    expect(run.part?.fold?.title).toBe('Referensi di bukti pembayaran (opsional)');
    expect(run.lines).toEqual([
      { label: { en: 'Order reference', id: 'Nomor referensi' }, text: { en: 'PO/4711', id: 'PO/4711' } },
    ]);
    expect(run.errors).toEqual({});
  });

  it('returns what is wrong in the words of the buyer, and stores nothing then', async () => {
    const run = await runCheckoutStep(referenceStep, { order_reference: '<b>' }, { texts });
    expect([run.errors, run.lines]).toEqual([
      { order_reference: 'Use letters, digits, dots, slashes and hyphens.' },
      [],
    ]);
  });

  it('sends hidden fields of the step, and records statements with the rows that a test gives', async () => {
    const run = await runCheckoutStep(
      {
        name: 'ours',
        fields: { seen: 10 },
        show: () => ({ hidden: { seen: 'v2' } }),
        submit:
          ({ seen }) =>
          async (transaction, order) => {
            const [row] = await transaction.execute<{ text: string }[]>('select ?', [seen, order.isNew]);
            const text = row?.text ?? '';
            return [{ label: { en: 'Seen', id: 'Dilihat' }, text: { en: text, id: text } }];
          },
      },
      {},
      { answer: () => [{ text: 'version 2' }], isNew: false },
    );
    expect(run.statements).toEqual([{ sql: 'select ?', parameters: ['v2', false] }]);
    expect(run.lines[0]?.text.en).toBe('version 2');
  });
});

describe('showPage', () => {
  it('renders a page from Markdown in the language of the reader', async () => {
    expect((await showPage(guidePage)).html).toContain('<a href="/terms">our terms</a>');
    expect((await showPage(guidePage, { language: 'id' })).html).toContain('<h1>Nomor referensi</h1>');
  });
});
