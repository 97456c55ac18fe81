// Sets up tools: plans all changes, prints them, asks for consent, and only then writes.

import { unlessRefused } from '../edit/common.mjs';
import { commitPlan } from './commit.mjs';
import { printSettings, printDifference } from './difference.mjs';
import { hasFormerTools, readFormerTools, readSavedModel, moveFromFormerNames } from './former.mjs';
import { placeholderKey, acceptsWebSockets } from './gateway.mjs';
import { checkKey, checkModelOfKey, findKeyVariable, findStoredKey, readKey } from './key.mjs';
import { isInstalled } from './list.mjs';
import { releaseLock } from './lock.mjs';
import { machine } from './machine.mjs';
import { describeTarget } from './models.mjs';
import { checkModel, requireTerminal } from './options.mjs';
import { join, recordPath, formatPath } from './paths.mjs';
import { computePlan, planFile } from './plan.mjs';
import { createRecords, listFiles, readStamp, readTools, removeRecords, saveTool, takeLock } from './records.mjs';
import { hasInterruptedRun, recoverRecords, removeDeadFolders } from './recovery.mjs';
import {
  askToWrite,
  formatSetupCommand,
  computer,
  isWindows,
  toolName,
  formatOption,
  printable,
  printVerdict,
  run,
  printLine,
  Stop,
  warn,
  findWorstVerdict,
} from './run.mjs';
import { quotePath } from './shell.mjs';
import { variables } from './variables.mjs';

export function setUp() {
  const { options } = run;
  checkModel(options);
  readFormerTools();
  const tools = run.data.tools.filter(isSelected);
  if (tools.length === 0)
    throw new Stop(
      `No tool was found on this ${computer}. Name one: ${formatOption('tools')} ${run.data.tools[0].id}.`,
    );
  prepareKey();
  if (!options.isDryRun && hasInterruptedRun()) {
    takeLock();
    recoverRecords();
    releaseLock();
  }
  const stamp = readStamp();
  let jobs = planTools(tools);
  if (options.isDryRun) return printDryRun(jobs);
  const isShown = requireConsent(jobs);
  removeDeadFolders();
  createRecords();
  takeLock();
  const refuseOtherRun = () => {
    if (readStamp() !== stamp) throw new Stop('Another run has changed the settings meanwhile. Run this again.');
  };
  refuseOtherRun();
  if (moveFromFormerNames(listReady(jobs))) jobs = replan(jobs);
  const variablePlan = commitTools(jobs);
  removeRecords();
  releaseLock();
  printResult(jobs, variablePlan, isShown);
}

function isSelected(tool) {
  if (run.options.tools.length > 0) return run.options.tools.includes(tool.id);
  const { id, isOnRequest } = tool;
  const isSetUp = readTools('tools').has(id) || listFiles(id).length > 0;
  return isSetUp || run.former.has(id) || run.moving.has(id) || (!isOnRequest && isInstalled(tool));
}

function prepareKey() {
  const { isDryRun, hasConsent, keyFile } = run.options;
  // A dry run needs no key: it uses that of the last run, or a placeholder.
  if (isDryRun && !keyFile && !findKeyVariable()) {
    if (!findStoredKey()) run.key = placeholderKey;
    return;
  }
  if (!isDryRun && !hasConsent) requireTerminal();
  readKey();
  checkKey();
  checkModelOfKey();
}

function planTools(tools) {
  return tools.map((tool) => {
    const { id } = tool;
    const plan = () => {
      const target = describeTarget(tool, readSavedModel(id), acceptsWebSockets);
      const plans = target.files.flatMap((action) => planFile(id, action, target));
      return { tool, id, wishes: target, plans, hasNewVariables: !variables.hasSame(id, target.variables) };
    };
    const skip = ({ message: reason }) => ({ tool, id, plans: [{ tool: id, shown: '', verdict: 'skipped', reason }] });
    return unlessRefused(plan, skip);
  });
}

function replan(jobs) {
  for (const { plans } of jobs) plans.filter(({ real }) => real).forEach(computePlan);
  return jobs;
}

function summarize({ plans, hasNewVariables }) {
  const verdict = findWorstVerdict(plans) ?? 'unchanged';
  if (verdict === 'unchanged' && hasNewVariables)
    return { verdict: 'written', details: isWindows ? 'variables' : formatPath(join(run.state, 'env')) };
  // If files were skipped or failed, the others are not named.
  const hasTrouble = /skipped|failed/;
  const reported = plans.filter(
    (plan) => plan.verdict !== 'unchanged' && (!hasTrouble.test(verdict) || hasTrouble.test(plan.verdict)),
  );
  const details = reported.map(({ shown, reason }) => [shown, reason].filter(Boolean).join(': '));
  return { verdict, details: [...new Set(details)].join(', ') };
}

function listReady(jobs) {
  return jobs.filter((job) => !/failed|skipped/.test(summarize(job).verdict)).map(({ id }) => id);
}

function planVariables(jobs, ids) {
  return variables.plan(
    new Map(jobs.filter(({ id }) => ids.includes(id)).map(({ id, wishes }) => [id, wishes.variables])),
  );
}

function printVerdicts(jobs, variablePlan, writtenWord) {
  let hasChanges = false;
  for (const job of [...jobs, { id: 'shell', plans: variablePlan.plans }]) {
    const { verdict, details } = summarize(job);
    if (/written|manual/.test(verdict)) hasChanges = true;
    if (verdict === 'failed') run.hasFailed = true;
    if (job.id !== 'shell' || verdict !== 'unchanged')
      printVerdict(toolName(job.id), verdict === 'written' ? writtenWord : verdict, details);
  }
  return hasChanges;
}

function printDryRun(jobs) {
  if (moveFromFormerNames(listReady(jobs))) {
    replan(jobs);
    printLine('\nThen:');
  }
  const shell = planVariables(jobs, listReady(jobs));
  printLine('');
  printVerdicts(jobs, shell, 'change');
  for (const plan of [...jobs.flatMap(({ plans }) => plans), ...shell.plans])
    if (plan.verdict === 'written') printDifference(plan.shown, plan.current, plan.after);
  variables.show(shell);
  printLine('\nNothing was changed, because this was a dry run.');
}

function requireConsent(jobs) {
  if (run.options.hasConsent) return false;
  const shell = planVariables(jobs, listReady(jobs));
  printLine(`\nSettings for ${printable(run.data.service)} (${run.data.baseUrl}):\n`);
  let hasChanges = printVerdicts(jobs, shell, 'change');
  run.hasFailed = false;
  if (hasFormerTools(listReady(jobs))) {
    printLine(`\nWhat was set up under a former name of ${printable(run.data.service)} is taken out first.`);
    hasChanges = true;
  }
  if (!hasChanges) return true;
  printLine(`\nFiles that exist are copied to ${formatPath(recordPath('backups'))} first.`);
  throw new Stop('', askToWrite);
}

function commitTools(jobs) {
  const ready = listReady(jobs);
  // A tool counts as set up only if all of its files could be written.
  const committed = jobs.filter(({ id, plans }) => ready.includes(id) && plans.every(commitPlan));
  for (const job of committed) {
    job.isDone = true;
    saveTool('tools', job.id, run.options.model || readSavedModel(job.id));
    saveTool('moving', job.id, undefined);
  }
  const shell = planVariables(
    jobs,
    committed.map(({ id }) => id),
  );
  if (!shell.isChanged && !shell.hasVariables) return shell;
  for (const plan of variables.commit(shell)) if (!shell.plans.includes(plan)) shell.plans.push(plan);
  return shell;
}

function printResult(jobs, variablePlan, isShown) {
  if (isShown) {
    if (jobs.some((job) => summarize(job).verdict === 'failed')) run.hasFailed = true;
    printLine('\nNothing to change.');
    return;
  }
  printLine('');
  const hasChanges = printVerdicts(jobs, variablePlan, 'written');
  if (run.backup) printLine(`\nCopies of the files from before: ${formatPath(run.backup)}`);
  for (const plan of jobs.flatMap(({ plans }) => plans)) if (plan.verdict === 'manual') printSettings(plan);
  warnAboutReadableKeys(jobs);
  const committed = jobs.filter(({ isDone }) => isDone);
  if (!hasChanges || committed.length === 0) return;
  const notes = committed.flatMap(({ tool, wishes }) => wishes.notes.map((note) => `${tool.name}: ${printable(note)}`));
  if (notes.length > 0) printLine(`\n${notes.join('\n')}`);
  printNextSteps(committed, variablePlan);
}

function warnAboutReadableKeys(jobs) {
  for (const { isSecret, isLink, real, verdict } of jobs.flatMap(({ plans }) => plans)) {
    // A file behind a link keeps the permissions that its user chose, which may let other users read the key.
    if (!isSecret || !isLink || isWindows || verdict !== 'written' || !((machine.stat(real)?.mode ?? 0) & 0o44))
      continue;
    warn(
      `Other users of this ${computer} can read the key in ${formatPath(real)}. Run: chmod 600 ${quotePath(machine.realPath(real))}`,
    );
  }
}

function printNextSteps(committed, { hasVariables }) {
  printLine('\nNext:');
  if (hasVariables && isWindows) printLine('  restart programs that are open: they do not see the new variables yet');
  else if (hasVariables && (machine.env('SHELL') ?? '').endsWith('/fish')) printLine('  open a new terminal');
  else if (hasVariables) printLine(`  . ${quotePath(join(run.state, 'env'))}    (or open a new terminal)`);
  for (const { wishes } of committed) if (wishes.start) printLine(`  ${wishes.start}`);
  printLine(`\nTo test each tool: ${formatSetupCommand(['verify'])}`);
  printLine(`To take the settings out again: ${formatSetupCommand(['undo'])}`);
}
