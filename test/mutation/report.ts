import type { Judgement } from './judge.ts';

/** One line for a mutant that was seen, and its change for one that was not. */
export function printJudgement({ mutant, verdict, killer }: Judgement, number: number, of: number): void {
  const place = `${mutant.file}:${mutant.line}`;
  console.log(`${number}/${of} ${verdict.padEnd(9)} ${place} ${mutant.operator}${killer === '' ? '' : ` (${killer})`}`);
  if (verdict === 'killed' || verdict === 'timed out') return;
  console.log(`    - ${mutant.before}\n    + ${mutant.after}`);
}

/** @param chosen mutants that were to be judged */
export function printScore(name: string, judgements: readonly Judgement[], chosen: number): void {
  const count = (verdict: Judgement['verdict']) =>
    judgements.filter((judgement) => judgement.verdict === verdict).length;
  const seen = count('killed') + count('timed out');
  const score = judgements.length === 0 ? '–' : Math.round((seen / judgements.length) * 100);
  console.log(
    `${name}: ${judgements.length} of ${chosen} mutants, ${count('killed')} killed, ${count('survived') + count('uncovered')} survived ` +
      `(${count('uncovered')} uncovered), ${count('timed out')} timed out, score ${score} %`,
  );
}
