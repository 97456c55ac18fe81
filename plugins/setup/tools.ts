import type { ScriptedTool, SetupTool } from './tool.ts';
import { aider } from './tools/aider.ts';
import { claudeCode } from './tools/claude-code.ts';
import { cline } from './tools/cline.ts';
import { codex } from './tools/codex.ts';
import { continueDev } from './tools/continue.ts';
import { copilotCli } from './tools/copilot-cli.ts';
import { crush } from './tools/crush.ts';
import { curl } from './tools/curl.ts';
import { cursor } from './tools/cursor.ts';
import { droid } from './tools/droid.ts';
import { environment } from './tools/environment.ts';
import { geminiCli } from './tools/gemini-cli.ts';
import { goose } from './tools/goose.ts';
import { jetbrains } from './tools/jetbrains.ts';
import { junie } from './tools/junie.ts';
import { aiSdk, anthropicSdk, geminiSdk, langchain, openaiSdk } from './tools/libraries.ts';
import { llm } from './tools/llm.ts';
import { kilo, opencode } from './tools/opencode.ts';
import { openhands } from './tools/openhands.ts';
import { pi } from './tools/pi.ts';
import { qwenCode } from './tools/qwen-code.ts';
import { vscode } from './tools/vscode.ts';
import { zed } from './tools/zed.ts';

/** Every tool that can be set up, in the order in which they are listed. To add one, write its entry and list it here. */
export const tools: readonly SetupTool[] = [
  claudeCode,
  codex,
  opencode,
  cline,
  copilotCli,
  geminiCli,
  kilo,
  qwenCode,
  droid,
  pi,
  crush,
  aider,
  goose,
  junie,
  openhands,
  llm,
  vscode,
  cursor,
  continueDev,
  zed,
  jetbrains,
  openaiSdk,
  anthropicSdk,
  geminiSdk,
  aiSdk,
  langchain,
  curl,
  environment,
];

/** The tools that the scripts set up. */
export const scriptedTools = tools.filter((tool): tool is ScriptedTool => tool.script !== undefined);

/** The formats that their models are chosen for. */
export const scriptedFormats: readonly string[] = [...new Set(scriptedTools.map(({ formats }) => formats[0]))];
