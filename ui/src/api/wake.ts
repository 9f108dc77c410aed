// Notices that the machine slept or that the network came back, when a connection may be dead without an error.
const TICK_MS = 5_000;
/** A tick that is this late did not wait for a busy page: the machine slept, or the browser froze the page. */
const LATE_MS = 30_000;

/** Calls back at each awakening; the result ends that. */
export function onWake(callback: () => void): () => void {
  let last = Date.now();
  const check = () => {
    const now = Date.now();
    const isLate = now - last > TICK_MS + LATE_MS;
    last = now;
    if (isLate) callback();
  };
  const timer = setInterval(check, TICK_MS);
  // Timers of hidden pages run rarely: the first thing that runs may be this.
  document.addEventListener("visibilitychange", check);
  addEventListener("online", callback);
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", check);
    removeEventListener("online", callback);
  };
}
