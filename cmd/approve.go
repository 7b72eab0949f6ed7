package cmd

import (
	"github.com/spf13/cobra"

	"kagent/pkg/session"
)

// approveAll is what --approve takes beside the id of a call.
const approveAll = "all"

// checkApproveFlag refuses a consent that names nothing: a variable may have
// been empty.
func checkApproveFlag(c *cobra.Command, what string) error {
	if c.Flags().Changed("approve") && what == "" {
		return usageErrorf("want all, or the id of a call", "--approve is empty")
	}
	return nil
}

// checkApproval refuses a consent to nothing.
func checkApproval(s *session.State, what string) error {
	switch {
	case what == "":
		return nil
	case what != approveAll:
		return usageErrorf("`kagent show "+s.ID+"` tells how it stands", "--approve: no call %s waits for approval", oneLine(what, 40))
	case !planWaits(s):
		return usageErrorf("`kagent show "+s.ID+"` tells how it stands", "--approve: nothing in session %s waits for approval", s.ID)
	}
	return nil
}

// planWaits reports whether the session is paused for a person's word on its
// plan.
func planWaits(s *session.State) bool {
	sc := s.Main()
	status, reason := s.Status()
	return status == session.Paused && reason == session.ReasonPlan && sc.Work.Plan != nil && !sc.Work.Approved
}
