import { stampView } from '../kit/stamp.ts';
import type { SubmissionAck } from './failures.ts';
import { actorOf, submissionPayload } from './payloads.ts';

/** The same answer; a view in it names the workspace where the app is installed for a whole organization. */
export async function stampedAck<Answer extends { readonly ack: SubmissionAck }>(
  body: unknown,
  answering: Promise<Answer>,
): Promise<Answer> {
  const answer = await answering;
  const payload = submissionPayload.safeParse(body).data;
  if (!payload?.is_enterprise_install || answer.ack?.response_action !== 'update') return answer;
  const { workspaceId } = actorOf(payload, undefined);
  return { ...answer, ack: { ...answer.ack, view: stampView(answer.ack.view, workspaceId) } };
}
