import { z } from 'zod';
import type { Answer } from './answers.ts';
import { problemOf } from './problem-words.ts';
import type { Report } from './report.ts';
import type { WebApi } from './web-api.ts';

/** A message or form of the app, as it is sent to Slack. */
export interface Piece {
  readonly name: string;
  readonly kind: 'message' | 'view';
  readonly content: object;
}

const faults = z.object({
  errors: z.array(
    z.object({
      pointer: z.string().catch(''),
      code: z.string().catch(''),
      message: z.string().catch(''),
    }),
  ),
});

/** How often it is said how far the check is. */
const STEP = 100;
/** Of one message or form. */
const MOST_FAULTS = 5;

/** Has Slack itself validate every message and form, one after the other: its limit for this isn't documented. */
export async function checkGallery(
  pieces: readonly Piece[],
  api: WebApi,
  report: Report,
  tell: (words: string) => void,
): Promise<void> {
  const known = new Map<string, Answer>();
  let refused = 0;
  for (const [index, piece] of pieces.entries()) {
    const progress = `${index} of ${pieces.length} messages and forms checked`;
    if (index > 0 && index % STEP === 0) tell(`${progress}.`);
    const answer = await validate(piece, api, known, progress);
    if (answer.kind === 'accepted') continue;
    const words = describeFaults(answer);
    if (words === undefined) {
      const { code, text } = problemOf('blocks.validate', answer);
      return report.failed('gallery', { code, text: `${progress}, then it stopped: ${text}` });
    }
    refused += 1;
    report.failed(`gallery: ${piece.name}`, words);
  }
  if (refused > 0) return;
  report.ok('gallery', `Slack accepts all ${pieces.length} messages and forms.`);
}

/** What looks the same is asked once, and what got no answer once more. */
async function validate(
  { kind, content }: Piece,
  api: WebApi,
  known: Map<string, Answer>,
  progress: string,
): Promise<Answer> {
  const json = JSON.stringify(content);
  const ask = () => api.call('blocks.validate', { [kind]: content }, progress);
  const first = known.get(json) ?? (await ask());
  const isLost = first.kind === 'unanswered' && first.why !== 'rate_limited';
  const answer = isLost ? await ask() : first;
  known.set(json, answer);
  return answer;
}

/** Undefined where it isn't the message or form that Slack refuses. */
function describeFaults(answer: Answer): { code: string; text: string } | undefined {
  if (answer.kind !== 'refused' || !/^invalid_(blocks|message|view)$/.test(answer.code)) return undefined;
  const found = faults.safeParse(answer.body).data?.errors ?? [];
  const listed = found
    .slice(0, MOST_FAULTS)
    .map(({ pointer, code, message }) => `${pointer || '/'} (${code}: ${message.slice(0, 300)})`);
  const rest = found.length - listed.length;
  const places = `${listed.join(', ') || 'an unknown place'}${rest > 0 ? ` and ${rest} more` : ''}`;
  return {
    code: answer.code,
    text: `Slack refuses it at ${places}. This is a bug of the app, not of your setup: please report this line.`,
  };
}
