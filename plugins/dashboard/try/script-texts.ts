import type { Localizer } from '#core/web/pages/page.ts';
import { statusCauses, explainError, tryCauses } from './explain-error.ts';

/** The page's scripts fill in the placeholders in braces. */
export function listScriptTexts({ t, format }: Localizer) {
  return {
    errors: Object.fromEntries(tryCauses.map((cause) => [cause, explainError(cause, {}, t)])),
    causes: statusCauses,
    openRequest: t('try.request'),
    again: t('try.again'),
    ask: t('try.ask'),
    askBoth: t('try.ask_both'),
    total: t('try.total'),
    speed: t('try.speed'),
    stopped: t('try.stopped'),
    broken: t('try.broken'),
    truncated: t('try.truncated'),
    noText: t('try.no_text'),
    thinking: t('try.thinking'),
    thought: t('try.thought'),
    done: t('try.done'),
    route: t('try.route'),
    notFor: t('try.not_for'),
    parameter: t('try.parameters', { count: 1 }).replace('1', '{count}'),
    parameters: t('try.parameters', { count: 2 }).replace('2', '{count}'),
    wrongTools: t('try.wrong_tools'),
    wrongSchema: t('try.wrong_schema'),
    wrongFile: t('try.wrong_file'),
    largeFile: t('try.large_file'),
    manyFiles: t('try.many_files'),
    allFiles: t('try.all_files'),
    removeFile: t('try.remove_file'),
    takesNo: { images: t('try.takes_no.images'), files: t('try.takes_no.files'), audio: t('try.takes_no.audio') },
    noRecording: t('try.no_recording'),
    similar: t('try.similar'),
    dimensions: t('try.dimensions'),
    openImage: t('try.open_image'),
    saveSpeech: t('try.save_speech'),
    flagged: t('try.flagged'),
    unflagged: t('try.unflagged'),
    units: { ms: format.duration(1).unit, s: format.duration(2_000).unit },
  };
}
