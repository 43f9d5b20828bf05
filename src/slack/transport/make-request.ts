import type { Visit } from '../../app/authorize/use-case.ts';
import { strongestRole } from '../../domain/access.ts';
import { explain } from './explain-error.ts';
import type { Reply, SlackRequest, Workbench } from './request.ts';

/** Puts together what a command, a button or a modal is handled with. */
export function makeRequest(
  bench: Workbench,
  visit: Visit,
  reply: Reply,
  triggerId: string | undefined,
): SlackRequest {
  return {
    bench,
    visit,
    reply,
    ...(triggerId === undefined ? {} : { triggerId }),
    enter: (useCase, input) => bench.door.enter(useCase, input, visit),
    knock: (useCase) => bench.door.knock(useCase, visit),
    role: async () => strongestRole(await bench.door.findReach(visit.actor)),
    explain: (error) => explain(error, bench),
    part: (place) => {
      const { requestId, ...rest } = visit;
      const part = requestId === undefined ? rest : { ...rest, requestId: `${requestId}#${place}` };
      return makeRequest(bench, part, reply, triggerId);
    },
  };
}
