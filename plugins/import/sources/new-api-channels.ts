import type { Reasons } from '../members.ts';

type ChannelType =
  | {
      readonly name: string;
      readonly url?: string; // default of `base_url`
      readonly path?: string; // between `base_url` and the endpoint's path; default: /v1
      readonly format?: 'chat' | 'messages' | 'gemini';
      readonly vendor?: string; // preset for the operator's own hosts
    }
  | { readonly name: string; readonly reason: string };

const formatReason = 'new-api translates its format, which Daypass does not support';
const mediaReason = 'generates images, videos or music through its own API';
const applicationReason = 'calls an application, not a model';

/** Channel types by number. Source: new-api, constant/channel.go and relay/channel/; the paths are those of its adaptors. */
export const channelTypes: Readonly<Record<number, ChannelType | undefined>> = {
  1: { name: 'OpenAI', url: 'https://api.openai.com' },
  2: { name: 'Midjourney', reason: mediaReason },
  3: { name: 'Azure', path: '/openai/v1', vendor: 'azure-openai' },
  4: { name: 'Ollama', url: 'http://127.0.0.1:11434', vendor: 'ollama' },
  5: { name: 'MidjourneyPlus', reason: mediaReason },
  8: { name: 'Custom', path: '' },
  14: { name: 'Anthropic', url: 'https://api.anthropic.com', format: 'messages' },
  15: { name: 'Baidu', reason: formatReason },
  16: { name: 'Zhipu', reason: formatReason },
  17: { name: 'Ali', url: 'https://dashscope.aliyuncs.com', path: '/compatible-mode/v1' },
  18: { name: 'Xunfei', reason: formatReason },
  20: { name: 'OpenRouter', url: 'https://openrouter.ai/api' },
  23: { name: 'Tencent', reason: formatReason },
  24: { name: 'Gemini', url: 'https://generativelanguage.googleapis.com', path: '/v1beta', format: 'gemini' },
  25: { name: 'Moonshot', url: 'https://api.moonshot.cn' },
  26: { name: 'ZhipuV4', url: 'https://open.bigmodel.cn', path: '/api/paas/v4' },
  27: { name: 'Perplexity', url: 'https://api.perplexity.ai', path: '' },
  31: { name: 'LingYiWanWu', url: 'https://api.lingyiwanwu.com' },
  33: {
    name: 'AWS',
    reason: 'new-api translates its model names and keys: add the upstream with `credentials.aws`',
  },
  34: { name: 'Cohere', reason: formatReason },
  35: { name: 'MiniMax', url: 'https://api.minimax.chat' },
  36: { name: 'SunoAPI', reason: mediaReason },
  37: { name: 'Dify', reason: applicationReason },
  40: { name: 'SiliconFlow', url: 'https://api.siliconflow.cn' },
  41: {
    name: 'VertexAI',
    reason: 'its key is a service account file: add the upstream with `credentials.google`',
  },
  42: { name: 'Mistral', url: 'https://api.mistral.ai' },
  43: { name: 'DeepSeek', url: 'https://api.deepseek.com' },
  45: { name: 'VolcEngine', url: 'https://ark.cn-beijing.volces.com', path: '/api/v3' },
  46: { name: 'BaiduV2', url: 'https://qianfan.baidubce.com', path: '/v2' },
  47: { name: 'Xinference' },
  48: { name: 'xAI', url: 'https://api.x.ai' },
  49: { name: 'Coze', reason: applicationReason },
  50: { name: 'Kling', reason: mediaReason },
  51: { name: 'Jimeng', reason: mediaReason },
  52: { name: 'Vidu', reason: mediaReason },
  54: { name: 'DoubaoVideo', reason: mediaReason },
  55: { name: 'Sora', reason: mediaReason },
  57: { name: 'Codex', reason: 'a ChatGPT login, not an API key' },
};

/** URLs by the name of a plan, which can replace a `base_url`. */
export const planUrls: Readonly<Record<string, string | undefined>> = {
  'glm-coding-plan': 'https://open.bigmodel.cn/api/coding/paas/v4',
  'glm-coding-plan-international': 'https://api.z.ai/api/coding/paas/v4',
  'kimi-coding-plan': 'https://api.kimi.com/coding/v1',
  'doubao-coding-plan': 'https://ark.cn-beijing.volces.com/api/coding/v3',
};

export const ignoredColumns = [
  'test_model',
  'created_time',
  'test_time',
  'response_time',
  'balance',
  'balance_updated_time',
  'used_quota',
  'auto_ban',
  'other_info',
  'tag',
  'remark',
] as const;

export const channelReasons: Reasons = {
  id: '',
  other: 'vendor-specific settings, such as an API version',
  settings: 'vendor-specific settings, such as an API version',
  setting: 'Daypass adds no proxy, prompt or the like to requests',
  status_code_mapping: 'upstream statuses are classified automatically: see docs/faults.md',
  param_override: 'members of requests are not replaced here: see `quirks` of a route',
  header_override: 'add `headers` to the upstream',
};
