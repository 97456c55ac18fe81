import { unlessRefused } from '../edit/common.mjs';
import { commitPlan } from './commit.mjs';
import { printSettings, showDifference } from './difference.mjs';
import { hasFormer, readFormer, savedModel, takeOver } from './former.mjs';
import { placeholderKey, takesSockets } from './gateway.mjs';
import { checkKey, checkModelOfKey, findKeyVariable, findStoredKey, readKey } from './key.mjs';
import { isInstalled } from './list.mjs';
// Sets tools up: computes all changes, shows them, asks, and only then writes.
import { releaseLock } from './lock.mjs';
import { machine } from './machine.mjs';
import { wishesOf } from './models.mjs';
import { checkModel, requireTerminal } from './options.mjs';
import { join, recordPath, show } from './paths.mjs';
import { computePlan, planFile } from './plan.mjs';
import { createRecords, listFiles, readStamp, readTools, removeRecords, saveTool, takeLock } from './records.mjs';
import { hasInterruptedRun, recoverRecords, removeDeadStages } from './recovery.mjs';
import {
  askToWrite,
  commandLine,
  computer,
  isWindows,
  nameOf,
  option,
  printable,
  printVerdict,
  run,
  say,
  Stop,
  warn,
  worstOf,
} from './run.mjs';
import { quotePath } from './shell.mjs';
import { variables } from './variables.mjs';

export function setUp() {
  const { options } = run;
  checkModel(options);
  readFormer();
  const tools = run.data.tools.filter(isSelected);
  if (tools.length === 0)
    throw new Stop(`No tool was found on this ${computer}. Name one: ${option('tools')} ${run.data.tools[0].id}.`);
  prepareKey();
  if (!options.isDryRun && hasInterruptedRun()) {
    takeLock();
    recoverRecords();
    releaseLock();
  }
  const stamp = readStamp();
  let jobs = planTools(tools);
  if (options.isDryRun) return dryRun(jobs);
  const isShown = confirm(jobs);
  removeDeadStages();
  createRecords();
  takeLock();
  const refuseOther = () => {
    if (readStamp() !== stamp) throw new Stop('Another run has changed the settings meanwhile. Run this again.');
  };
  refuseOther();
  if (takeOver(readyOf(jobs))) jobs = replan(jobs);
  const shell = commitTools(jobs);
  removeRecords();
  releaseLock();
  printResult(jobs, shell, isShown);
}

function isSelected(tool) {
  if (run.options.tools.length > 0) return run.options.tools.includes(tool.id);
  const { id, isOnRequest } = tool;
  const isSetUp = readTools('tools').has(id) || listFiles(id).length > 0;
  return isSetUp || run.former.has(id) || run.moving.has(id) || (!isOnRequest && isInstalled(tool));
}

/** A dry run needs no key: it uses the last run's key, or else a placeholder. */
function prepareKey() {
  const { isDryRun, hasConsent, keyFile } = run.options;
  if (isDryRun && !keyFile && !findKeyVariable()) {
    if (!findStoredKey()) run.key = placeholderKey;
    return;
  }
  if (!isDryRun && !hasConsent) requireTerminal();
  readKey();
  checkKey();
  checkModelOfKey();
}

/** One job for each tool: its wishes, the plans of its files, and the verdict. */
function planTools(tools) {
  return tools.map((tool) => {
    const { id } = tool;
    const plan = () => {
      const wishes = wishesOf(tool, savedModel(id), takesSockets);
      const plans = wishes.files.flatMap((action) => planFile(id, action, wishes));
      return { tool, id, wishes, plans, hasNewVariables: !variables.hasSame(id, wishes.variables) };
    };
    const skip = ({ message: reason }) => ({ tool, id, plans: [{ tool: id, shown: '', verdict: 'skipped', reason }] });
    return unlessRefused(plan, skip);
  });
}

function replan(jobs) {
  for (const { plans } of jobs) plans.filter(({ real }) => real).forEach(computePlan);
  return jobs;
}

/** The most serious verdict on the files of a tool, with its message. */
function summarize({ plans, hasNewVariables }) {
  const verdict = worstOf(plans) ?? 'unchanged';
  if (verdict === 'unchanged' && hasNewVariables)
    return { verdict: 'written', details: isWindows ? 'variables' : show(join(run.state, 'env')) };
  // If files were skipped or failed, the others are not named.
  const isWorse = /skipped|failed/;
  const named = plans.filter(
    (plan) => plan.verdict !== 'unchanged' && (!isWorse.test(verdict) || isWorse.test(plan.verdict)),
  );
  const details = named.map(({ shown, reason }) => [shown, reason].filter(Boolean).join(': '));
  return { verdict, details: [...new Set(details)].join(', ') };
}

function readyOf(jobs) {
  return jobs.filter((job) => !/failed|skipped/.test(summarize(job).verdict)).map(({ id }) => id);
}

/** The variables of the tools that are ready, or were set up. */
function planVariables(jobs, ids) {
  return variables.plan(
    new Map(jobs.filter(({ id }) => ids.includes(id)).map(({ id, wishes }) => [id, wishes.variables])),
  );
}

/**
 * Prints a line per tool, and one for the profile when it matters; `word` stands for what is written. True when anything changes.
 */
function printVerdicts(jobs, shell, word) {
  let hasChanges = false;
  for (const job of [...jobs, { id: 'shell', plans: shell.plans }]) {
    const { verdict, details } = summarize(job);
    if (/written|manual/.test(verdict)) hasChanges = true;
    if (verdict === 'failed') run.hasFailed = true;
    if (job.id !== 'shell' || verdict !== 'unchanged')
      printVerdict(nameOf(job.id), verdict === 'written' ? word : verdict, details);
  }
  return hasChanges;
}

function dryRun(jobs) {
  if (takeOver(readyOf(jobs))) {
    replan(jobs);
    say('\nThen:');
  }
  const shell = planVariables(jobs, readyOf(jobs));
  say('');
  printVerdicts(jobs, shell, 'change');
  for (const plan of [...jobs.flatMap(({ plans }) => plans), ...shell.plans])
    if (plan.verdict === 'written') showDifference(plan.shown, plan.current, plan.after);
  variables.show(shell);
  say('\nNothing was changed, because this was a dry run.');
}

/** Ends the run so that the user is asked. True when there is nothing to ask about, and the verdicts were shown. */
function confirm(jobs) {
  if (run.options.hasConsent) return false;
  const shell = planVariables(jobs, readyOf(jobs));
  say(`\nSettings for ${printable(run.data.service)} (${run.data.baseUrl}):\n`);
  let hasChanges = printVerdicts(jobs, shell, 'change');
  run.hasFailed = false;
  if (hasFormer(readyOf(jobs))) {
    say(`\nWhat was set up under a former name of ${printable(run.data.service)} is taken out first.`);
    hasChanges = true;
  }
  if (!hasChanges) return true;
  say(`\nFiles that exist are copied to ${show(recordPath('backups'))} first.`);
  throw new Stop('', askToWrite);
}

/** Writes what was planned, tool by tool; a tool whose files cannot all be written is not counted as set up. */
function commitTools(jobs) {
  const ready = readyOf(jobs);
  const done = jobs.filter(({ id, plans }) => ready.includes(id) && plans.every(commitPlan));
  for (const job of done) {
    job.isDone = true;
    saveTool('tools', job.id, run.options.model || savedModel(job.id));
    saveTool('moving', job.id, undefined);
  }
  const shell = planVariables(
    jobs,
    done.map(({ id }) => id),
  );
  if (!shell.isChanged && !shell.hasVariables) return shell;
  for (const plan of variables.commit(shell)) if (!shell.plans.includes(plan)) shell.plans.push(plan);
  return shell;
}

/** Verdicts, what a person must know, and what to do next. */
function printResult(jobs, shell, isShown) {
  if (isShown) {
    if (jobs.some((job) => summarize(job).verdict === 'failed')) run.hasFailed = true;
    say('\nNothing to change.');
    return;
  }
  say('');
  const hasChanges = printVerdicts(jobs, shell, 'written');
  if (run.backup) say(`\nCopies of the files from before: ${show(run.backup)}`);
  for (const plan of jobs.flatMap(({ plans }) => plans)) if (plan.verdict === 'manual') printSettings(plan);
  warnOfReaders(jobs);
  const done = jobs.filter(({ isDone }) => isDone);
  if (!hasChanges || done.length === 0) return;
  const notes = done.flatMap(({ tool, wishes }) => wishes.notes.map((note) => `${tool.name}: ${printable(note)}`));
  if (notes.length > 0) say(`\n${notes.join('\n')}`);
  printNextSteps(done, shell);
}

/** A file behind a link keeps its permissions: its user has chosen them, and is told what they mean now. */
function warnOfReaders(jobs) {
  for (const { isSecret, isLink, real, verdict } of jobs.flatMap(({ plans }) => plans)) {
    if (!isSecret || !isLink || isWindows || verdict !== 'written' || !((machine.look(real)?.mode ?? 0) & 0o44))
      continue;
    warn(
      `Other users of this ${computer} can read the key in ${show(real)}. Run: chmod 600 ${quotePath(machine.realPath(real))}`,
    );
  }
}

function printNextSteps(done, { hasVariables }) {
  say('\nNext:');
  if (hasVariables && isWindows) say('  restart programs that are open: they do not see the new variables yet');
  else if (hasVariables && (machine.env('SHELL') ?? '').endsWith('/fish')) say('  open a new terminal');
  else if (hasVariables) say(`  . ${quotePath(join(run.state, 'env'))}    (or open a new terminal)`);
  for (const { wishes } of done) if (wishes.start) say(`  ${wishes.start}`);
  say(`\nTo test each tool: ${commandLine(['verify'])}`);
  say(`To take the settings out again: ${commandLine(['undo'])}`);
}
