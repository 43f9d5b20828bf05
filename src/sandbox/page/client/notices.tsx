import { dismissNotice } from './actions.ts';
import { Icon } from './icon.tsx';
import { useScreen } from './state/store.ts';

/** Refusals and the like, at the top for a few seconds: what was just said stays in sight. */
export function Notices() {
  const notices = useScreen((screen) => screen.notices);
  return (
    <div class="notices" role="alert">
      {notices.map(({ id, words }) => (
        <div key={id} class="notice">
          {words}
          <button type="button" class="icon-button" aria-label="Dismiss" onClick={() => dismissNotice(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
