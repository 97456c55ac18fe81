import { readFile } from 'node:fs/promises';
import { formatMoneyForTerminal } from '#core/business/accounts/money.ts';
import { currencySection, plansSection } from '#core/business/accounts/plans.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { ReviewedHost } from '#core/extension/registry.ts';
import { formatLocalTime } from '#core/platform/timing/time-zone.ts';
import { type Language, languages } from '#core/web/texts/texts.ts';
import {
  backupSection,
  consentsSection,
  dataRequestsSection,
  paymentsSection,
  sellerSection,
  signInSection,
} from './other-sections.ts';
import { listForeignHosts, readLogOptions } from './review.ts';
import { pagesSection } from './section.ts';

const pageNames = ['terms', 'privacy', 'refunds', 'contact'];

const providerTitles: Readonly<Record<string, string>> = {
  google: 'Google',
  github: 'GitHub',
  midtrans: 'Midtrans',
  xendit: 'Xendit',
};

/** Unknown values stay as `{{…}}`. */
export async function writeDrafts(host: ReviewedHost): Promise<(readonly [path: string, text: string])[]> {
  const { folder } = host.section(pagesSection);
  const files = pageNames.flatMap((name) =>
    languages.map((language) => ({ name: `${name}.${language}.md`, language })),
  );
  return Promise.all(
    files.map(async ({ name, language }) => {
      const draft = await readFile(new URL(`drafts/${name}`, import.meta.url), 'utf8');
      return [`${folder}/${name}`, fillDraft(draft, listValues(language, host))] as const;
    }),
  );
}

function fillDraft(draft: string, values: Readonly<Record<string, string | undefined>>): string {
  return draft
    .replaceAll(/^\{\{(\w+)\}\}\n/gm, (line, name: string) => (values[name] === '' ? '' : line))
    .replaceAll(/\{\{(\w+)\}\}/g, (placeholder, name: string) => values[name] ?? placeholder)
    .replaceAll(/\n{3,}/g, '\n\n')
    .replaceAll(/(?<=\S) {2,}/g, ' ');
}

/** A value that only the operator knows is undefined or missing. */
function listValues(language: Language, host: ReviewedHost): Readonly<Record<string, string | undefined>> {
  const { name, base_url: site, contact, time_zone: timeZone } = host.section(service);
  const seller = host.section(sellerSection);
  const { keep_days: days } = readLogOptions(host);
  const { provider, order_minutes: minutes } = host.section(paymentsSection);
  return {
    date: formatLocalTime(new Date(), timeZone).day,
    service: name,
    site: site === undefined || site === '' ? undefined : site.replace(/\/+$/, ''),
    contact: contact === undefined || contact === exampleContact ? undefined : renderContactLink(contact),
    seller: seller.name,
    address: seller.address?.replaceAll(/\s*\n\s*/g, ', '),
    plans: renderPlans(language, host),
    tax: describeTax(language, seller.tax),
    order_minutes: String(minutes),
    keep_days: days === undefined ? undefined : String(days),
    keep_years: String(seller.keep_years),
    content: describeContent(language, host),
    backup: describeBackup(language, host),
    ...describeConsents(language, host),
    ...describeDataRequests(language, host),
    vendors: listVendors(host),
    payment_provider:
      provider === undefined || ['sandbox', 'none'].includes(provider)
        ? undefined
        : (providerTitles[provider] ?? provider),
    sign_in: describeSignIn(language, host),
  };
}

const exampleContact = 'mailto:you@example.com';

function renderContactLink(contact: string): string {
  return `[${contact.replace(/^(?:mailto:|https?:\/\/)/, '')}](${contact})`;
}

function renderPlans(language: Language, host: ReviewedHost): string {
  const currency = host.section(currencySection);
  const [head, unit] = language === 'en' ? ['| Days | Price |', 'days'] : ['| Hari | Harga |', 'hari'];
  const rows = host.section(plansSection).map(({ days, price }) => {
    const dayWord = language === 'en' && days === 1 ? 'day' : unit;
    return `| ${days} ${dayWord} | ${formatMoneyForTerminal(price, currency)} |`;
  });
  return [head, '|---|---:|', ...rows].join('\n');
}

function describeTax(language: Language, configuredTax: unknown): string {
  const taxes = [configuredTax].flat().filter((tax) => typeof tax === 'object') as { readonly name: string }[];
  const included = [...new Set(taxes.map(({ name }) => name))].join(', ');
  if (included === '') return '';
  return language === 'en' ? `They include ${included}.` : `Harga sudah termasuk ${included}.`;
}

function describeContent(language: Language, host: ReviewedHost): string {
  const { content, keep_days: days } = readLogOptions(host);
  if (language === 'en')
    return content === true
      ? `Prompts and answers are recorded for ${days} days, to find faults and misuse.`
      : 'Prompts and answers are passed on and not recorded. If a tool asks for it, the service keeps an answer so that the tool can continue it.';
  return content === true
    ? `Prompt dan jawaban dicatat selama ${days} hari, untuk menemukan gangguan dan penyalahgunaan.`
    : 'Prompt dan jawaban diteruskan dan tidak dicatat. Jika diminta sebuah tool, layanan menyimpan jawaban agar tool itu dapat melanjutkannya.';
}

function describeBackup(language: Language, host: ReviewedHost): string {
  const { every, keep } = host.section(backupSection);
  if (every === undefined) return '';
  const unit = { hour: ['hour', 'jam'], day: ['day', 'hari'], week: ['week', 'minggu'] }[every] ?? [every, every];
  return language === 'en'
    ? `Backups are made every ${unit[0]}; the last ${keep} are kept.`
    : `Cadangan (backup) dibuat setiap ${unit[1]}; ${keep} yang terakhir disimpan.`;
}

function describeConsents(language: Language, host: ReviewedHost) {
  const consentLabels = Object.values(host.section(consentsSection)).map(({ label }) => `“${label[language]}”`);
  if (consentLabels.length === 0) return { consents: '', consents_kept: '' };
  const list = new Intl.ListFormat(language, { type: 'conjunction' }).format(consentLabels);
  return language === 'en'
    ? {
        consents: `Only with your consent, which you give and withdraw on the page [Consents](/account/consents): ${list}.`,
        consents_kept:
          '| consents that you gave, with their wording | what each one is for, and proof of it | until you delete the account |',
      }
    : {
        consents: `Hanya dengan persetujuanmu, yang kamu berikan dan tarik di halaman [Persetujuan](/account/consents): ${list}.`,
        consents_kept:
          '| persetujuan yang kamu berikan, dengan kata-katanya | tujuan masing-masing, dan buktinya | sampai kamu menghapus akun |',
      };
}

function describeDataRequests(language: Language, host: ReviewedHost) {
  const { enabled, answer_hours: hours, keep_years: years } = host.section(dataRequestsSection);
  const unit = language === 'en' ? (hours === 1 ? 'hour' : 'hours') : 'jam';
  const isDays = hours > 24 && hours % 24 === 0;
  const answer_time = isDays ? `${hours / 24} × 24 ${unit}` : `${hours} ${unit}`;
  if (!enabled) return { answer_time, data_requests: '', data_requests_kept: '' };
  return language === 'en'
    ? {
        answer_time,
        data_requests:
          'The page [Your data](/account/data-requests) also accepts such requests, and pauses your account immediately.',
        data_requests_kept: `| what you asked us about your data, and our answer | to answer you, and proof of it | the text until you delete the account; kind and times for ${years} years after the year of the answer |`,
      }
    : {
        answer_time,
        data_requests:
          'Halaman [Data kamu](/account/data-requests) juga menerima permintaan itu, dan menjeda akunmu seketika.',
        data_requests_kept: `| permintaanmu tentang datamu, dan jawaban kami | untuk menjawabmu, dan buktinya | isinya sampai kamu menghapus akun; jenis dan waktunya selama ${years} tahun setelah tahun jawaban |`,
      };
}

function listVendors(host: ReviewedHost): string | undefined {
  const hosts = listForeignHosts(host, true);
  return hosts.length === 0 ? undefined : hosts.map((name) => `- ${name}`).join('\n');
}

function describeSignIn(language: Language, host: ReviewedHost): string {
  const providers = Object.entries(host.section(signInSection))
    .filter(([, { client_id: client = '' }]) => client !== '')
    .map(([name]) => providerTitles[name] ?? name);
  if (providers.length === 0) return '';
  const list = new Intl.ListFormat(language, { type: 'disjunction' }).format(providers);
  return language === 'en'
    ? `You sign in with ${list}, who tell us your name and e-mail address.`
    : `Kamu masuk lewat ${list}, yang memberi kami nama dan alamat email kamu.`;
}
