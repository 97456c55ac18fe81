import { readFile } from 'node:fs/promises';
import { currencySection, inText, plansSection } from '#core/business/accounts/plans.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { ReviewedHost } from '#core/extension/registry.ts';
import { type Language, languages } from '#core/web/texts/texts.ts';
import { backupSection, paymentsSection, sellerSection, signInSection } from './other-sections.ts';
import { foreignHosts, logOptions } from './review.ts';
import { pagesSection } from './section.ts';

const names = ['terms', 'privacy', 'refunds', 'contact'];

const titles: Readonly<Record<string, string>> = {
  google: 'Google',
  github: 'GitHub',
  midtrans: 'Midtrans',
  xendit: 'Xendit',
};

/** Drafts of the usual pages, filled in from this configuration as far as it has them; the rest waits as `{{…}}`. */
export async function writeDrafts(host: ReviewedHost): Promise<(readonly [path: string, text: string])[]> {
  const { folder } = host.section(pagesSection);
  const files = names.flatMap((name) => languages.map((language) => ({ name: `${name}.${language}.md`, language })));
  return Promise.all(
    files.map(async ({ name, language }) => {
      const draft = await readFile(new URL(`drafts/${name}`, import.meta.url), 'utf8');
      return [`${folder}/${name}`, fill(draft, valuesIn(language, host))] as const;
    }),
  );
}

function fill(draft: string, values: Readonly<Record<string, string | undefined>>): string {
  return draft
    .replaceAll(/\{\{(\w+)\}\}/g, (place, name: string) => values[name] ?? place)
    .replaceAll(/\n{3,}/g, '\n\n')
    .replaceAll(/(?<=\S) {2,}/g, ' ');
}

/** Values by the names of places; undefined, or not there, for those that only the operator knows. */
function valuesIn(language: Language, host: ReviewedHost): Readonly<Record<string, string | undefined>> {
  const { name, base_url: site, contact } = host.section(service);
  const seller = host.section(sellerSection);
  const { keep_days: days } = logOptions(host);
  const { provider, order_minutes: minutes } = host.section(paymentsSection);
  return {
    date: new Date().toISOString().slice(0, 10),
    service: name,
    site: site === undefined || site === '' ? undefined : site.replace(/\/+$/, ''),
    contact: contact === undefined || contact === exampleContact ? undefined : linkTo(contact),
    seller: seller.name,
    address: seller.address?.replaceAll(/\s*\n\s*/g, ', '),
    plans: plansIn(language, host),
    order_minutes: String(minutes),
    keep_days: days === undefined ? undefined : String(days),
    keep_years: String(seller.keep_years),
    content: contentIn(language, host),
    backup: backupIn(language, host),
    vendors: vendorsIn(host),
    payment_provider:
      provider === undefined || ['sandbox', 'none'].includes(provider) ? undefined : (titles[provider] ?? provider),
    sign_in: signInIn(language, host),
  };
}

const exampleContact = 'mailto:you@example.com';

function linkTo(contact: string): string {
  return `[${contact.replace(/^(?:mailto:|https?:\/\/)/, '')}](${contact})`;
}

function plansIn(language: Language, host: ReviewedHost): string {
  const currency = host.section(currencySection);
  const [head, unit] = language === 'en' ? ['| Days | Price |', 'days'] : ['| Hari | Harga |', 'hari'];
  const rows = host.section(plansSection).map(({ days, price }) => {
    const shown = language === 'en' && days === 1 ? 'day' : unit;
    return `| ${days} ${shown} | ${inText(price, currency)} |`;
  });
  return [head, '|---|---:|', ...rows].join('\n');
}

function contentIn(language: Language, host: ReviewedHost): string {
  const { content, keep_days: days } = logOptions(host);
  if (language === 'en')
    return content === true
      ? `Prompts and answers are recorded for ${days} days, to find faults and misuse.`
      : 'Prompts and answers are passed on and not recorded. Where a tool asks for it, the service keeps an answer so that the tool can continue it.';
  return content === true
    ? `Prompt dan jawaban dicatat selama ${days} hari, untuk menemukan gangguan dan penyalahgunaan.`
    : 'Prompt dan jawaban diteruskan dan tidak dicatat. Jika diminta sebuah tool, layanan menyimpan jawaban agar tool itu dapat melanjutkannya.';
}

function backupIn(language: Language, host: ReviewedHost): string {
  const { every, keep } = host.section(backupSection);
  if (every === undefined) return '';
  const unit = { hour: ['hour', 'jam'], day: ['day', 'hari'], week: ['week', 'minggu'] }[every] ?? [every, every];
  return language === 'en'
    ? `Backups are made every ${unit[0]}; the last ${keep} are kept.`
    : `Cadangan (backup) dibuat setiap ${unit[1]}; ${keep} yang terakhir disimpan.`;
}

function vendorsIn(host: ReviewedHost): string | undefined {
  const hosts = foreignHosts(host, true);
  return hosts.length === 0 ? undefined : hosts.map((one) => `- ${one}`).join('\n');
}

function signInIn(language: Language, host: ReviewedHost): string {
  const providers = Object.entries(host.section(signInSection))
    .filter(([, { client_id: client = '' }]) => client !== '')
    .map(([name]) => titles[name] ?? name);
  if (providers.length === 0) return '';
  const list = new Intl.ListFormat(language, { type: 'disjunction' }).format(providers);
  return language === 'en'
    ? `You sign in with ${list}, who tell us your name and e-mail address.`
    : `Kamu masuk lewat ${list}, yang memberi kami nama dan alamat e-mail kamu.`;
}
