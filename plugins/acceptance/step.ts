import type { OrderLine } from '#core/business/payments/order-lines.ts';
import { service as serviceSection } from '#core/config/sections/core-sections.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { CheckoutStep, SentencePiece } from '#core/web/pages/checkout-step.ts';
import { accountOf, FieldErrors, type PageRequest } from '#core/web/pages/page.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import type { Language } from '#core/web/texts/texts.ts';
import { type Document, listDocuments, createPermanentLink } from './document.ts';
import {
  recordAcceptance,
  type AcceptedText,
  findChangedPages,
  clearRecordedTimes,
  recordShownTexts,
  parseShownTexts,
  encodeShownTexts,
} from './store.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

const maxFieldLength = 200; // twice what two texts need

/** Creates the checkout step that shows a sentence with links and records the acceptance. It has no checkbox. */
export const createAcceptanceStep = (gateway: Pick<Registry, 'siteLinksReader'>): CheckoutStep => ({
  name: 'acceptance',
  fields: { accepted: maxFieldLength },
  async show(request) {
    const documents = listDocuments(request, gateway.siteLinksReader);
    if (documents.length === 0) return undefined;
    const { host } = request;
    await recordShownTexts(host, documents);
    const changedPages = await findChangedPages(host.database, accountOf(request).id, documents);
    return {
      sentence: describeSentence(documents, changedPages.length > 0, request),
      hidden: { accepted: encodeShownTexts(documents) },
    };
  },
  submit({ accepted = '' }, request) {
    const documents = listDocuments(request, gateway.siteLinksReader);
    if (documents.length === 0) return undefined;
    return async (transaction, order) => {
      const acceptedTexts = await recordAcceptance(transaction, order, parseShownTexts(accepted), documents);
      if (acceptedTexts !== undefined)
        return acceptedTexts.map((acceptedText) => describeReceiptLine(acceptedText, request));
      clearRecordedTimes(request.host);
      throw new FieldErrors({ accepted: 'acceptance.changed' });
    };
  },
});

function describeSentence(documents: readonly Document[], isChanged: boolean, { t }: PageRequest): SentencePiece[] {
  const links = documents.flatMap((document, index): SentencePiece[] => [
    { text: t(index === 0 ? 'acceptance.by_paying' : 'acceptance.and') },
    { text: t(`acceptance.${document.page}`), path: createPermanentLink(document) },
  ]);
  return [...links, { text: isChanged ? t('acceptance.end_changed') : t('acceptance.end') }];
}

const translate = (render: (language: Language) => string) => ({ en: render('en'), id: render('id') });

function describeReceiptLine(accepted: AcceptedText, { host }: Pick<PageRequest, 'host'>): OrderLine {
  const { time_zone: timeZone } = host.section(serviceSection);
  const texts = { en, id };
  return {
    label: translate((language) => texts[language][`acceptance.line.${accepted.page}`]),
    text: translate((language) => {
      const { version, address, createdAt } = accepted;
      if (address !== undefined) return address;
      if (version !== undefined) return texts[language]['acceptance.line.version'].replace('{version}', version);
      const day = getFormatter(language, timeZone).day(createdAt).text;
      return texts[language]['acceptance.line.since'].replace('{day}', day);
    }),
    path: createPermanentLink(accepted),
  };
}
