/** Words that occur in English sentences but not in Indonesian ones. */
const english =
  /\b(the|is|are|was|were|and|not|with|for|has|have|this|that|by|from|been|will|which|when|while|its|of|to|could|did)\b/i;
/** Code, which has no language, and text marked as English: the name of a language, the output of `daypass check`. */
const left = /<(script|style|code|pre|template)\b.*?<\/\1>|<(\w+)[^>]*\slang="en"[^>]*>.*?<\/\2>/gs;
const attributes = /\s(?:title|aria-label|alt|placeholder)="([^"]*)"/g;

/** @param quoted text of upstreams, customers and operators */
export function findEnglish(html: string, quoted: RegExp = /^$/): string[] {
  const body = html.slice(html.indexOf('<body')).replace(left, '');
  const lines = [...body.split(/<[^>]*>/), ...[...body.matchAll(attributes)].map(([, text = '']) => text)];
  const found = lines.map((line) => line.replace(/\s+/g, ' ').trim()).filter((line) => english.test(line));
  return [...new Set(found)].filter((line) => !quoted.test(line));
}
